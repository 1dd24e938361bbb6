"""Monte Carlo tree search: the tree and its kernels, and evaluators that replace rollouts.

It imports `search.playouts` and `search.limits`; the MCTS player and the benchmarks import it.
"""
