"""Model files: finding and loading them, checking their metadata, and packing their weights.

Players, trainers, runs and the packages above `zermelo.learn` may import this package. It imports
`batch`, `networks` and `config`, but not torch.
"""
