"""Batches of games as arrays: rules, encoders, replay, reward shaping, policies, evaluation sets.

Networks, models, actors and trainers may import this package; it imports only
`zermelo.learn.config` of `zermelo.learn`, and no torch.
"""
