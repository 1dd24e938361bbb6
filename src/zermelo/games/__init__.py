"""The games: two families of rules, games in users' files, and a registry that builds them by spec.

Rules import without numba. Every package above `core` and `kernels` may import this one.
"""
