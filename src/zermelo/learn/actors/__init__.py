"""Actors, which play games for a trainer: their protocol, and pools of processes or Ray tasks.

A pool is given the function that plays games, so this package does not depend on any trainer. The
trainers and `runs` import it; it imports only `networks` (for types) and `config`.
"""
