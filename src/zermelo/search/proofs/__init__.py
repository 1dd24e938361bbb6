"""Proofs: strategy files that prove the value of a line game and can be checked independently.

`proof` finds strategies with the solver and writes them; `strategy_kernel` has the kernels it runs.
Commands may import this package.
"""
