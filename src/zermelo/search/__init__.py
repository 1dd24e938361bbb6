"""Search: textbook algorithms, counting, the solver, tablebases, proofs, tree search, explanations.

Modules import only from lower layers: explanations, proofs and `mcts` are at the top, then come the
solver and the engines, then the kernels in `large` and `negamax`, and `limits` is at the bottom.
Players and everything above them may import this package.
"""
