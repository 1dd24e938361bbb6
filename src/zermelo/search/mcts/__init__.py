"""Monte Carlo tree search: the tree and its kernels, and evaluators that replace rollouts.

This package imports `search.limits` and `search.traversal_arrays`; the MCTS and DQN
players and the benchmarks import it.
"""
