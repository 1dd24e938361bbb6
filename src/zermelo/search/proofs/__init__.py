"""Proofs: strategy files that prove the value of a line game and can be checked independently.

`proof` finds strategies with the solver and writes them, using the kernels in `strategy_kernel`.
`check_proof` checks them, and imports nothing of this project, so that it also runs on its own.
Commands may import this package.
"""
