"""Explanations: analyses of positions with verified reasons, reviews of games, and puzzles.

This package may import all of `zermelo.search`, but nothing else in `zermelo.search` may import it.
"""
