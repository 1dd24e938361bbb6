"""The games: one file a family, and the registry that turns a spec into a game.

Rules import without numba. What may import this: everything above the contract.
"""
