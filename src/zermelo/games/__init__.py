"""The games: two families of rules, games in users' files, and a registry that builds them by spec.

Importing the rules does not import numba. Every package above `core` and `kernels` may import this
one.
"""
