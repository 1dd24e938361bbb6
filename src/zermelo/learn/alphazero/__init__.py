"""AlphaZero: tree search on CPU (kernels) and GPU (tensors), self-play, training and the player.

Only `zermelo.learn.runs` and the packages above `zermelo.learn` may import this package. The
player, its model files and the CPU search do not need torch.
"""
