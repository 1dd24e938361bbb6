"""Batches of games as arrays: rules, encoders, replay, reward shaping, policies, evaluation sets.

Networks, models, actors and trainers may import this package. From `zermelo.learn`, it imports only
`config`; it does not import torch.
"""
