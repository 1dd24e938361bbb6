"""Proofs: strategy files that prove the value of a game and can be checked independently.

`proof` finds strategies with the solver and writes them, using the kernels in `strategy_kernel`;
`rules_proof` does so for games in files. `check_proof` and `check_rules_proof` check them; they
import nothing of this project, so they also run on their own. Commands may import this package.
"""
