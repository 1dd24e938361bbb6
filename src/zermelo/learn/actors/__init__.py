"""Actors, which play games for a trainer: their protocol, and pools of processes or Ray tasks.

Each pool is given the function that plays games, so this package does not depend on any trainer.
The trainers and `runs` import this package. From `zermelo.learn`, it imports only `networks` (for
types) and `config`.
"""
