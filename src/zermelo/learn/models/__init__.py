"""Model files: where they are, what their metadata must say, Q models for play, packed weights.

Players, trainers and runs may import this package, and so may the packages above `zermelo.learn`;
it imports batches, networks and config, and no torch.
"""
