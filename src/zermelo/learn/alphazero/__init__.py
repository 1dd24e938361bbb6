"""AlphaZero: self-play with tree search on CPU (kernels) and GPU (tensors), training, the player.

Only `zermelo.learn.runs` and packages above `zermelo.learn` may import it. The player, its model
files and the search on the CPU do not need torch.
"""
