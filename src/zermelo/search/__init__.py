"""Search: textbook algorithms, counting, the solver, tablebases, proofs, tree search, explanations.

Imports point down, from explanations, proofs and `mcts` by way of the solver and the engines to the
kernels in `large` and `negamax`, and to `limits` at the bottom. Players and everything above them
may import it.
"""
