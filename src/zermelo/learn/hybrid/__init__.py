"""Training and player of the hybrid: alpha-beta search with a value network at the leaves.

Only `zermelo.learn.runs` and the packages above `zermelo.learn` may import this package. The player
and the network in the search kernel do not need torch.
"""
