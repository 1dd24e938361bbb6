"""Proofs: strategy files that show the value of a line game and that anyone can check.

`proof` finds and writes strategies with the solver, `strategy_kernel` has its kernels. Commands may
import it.
"""
