"""The hybrid, which is alpha-beta with a value network at its leaves: its training and its player.

Only `zermelo.learn.runs` and the packages above `zermelo.learn` may import this package. The player
and the network in the search kernel do not need torch.
"""
