"""Explanations: analyses of positions with verified reasons, reviews of games, and puzzles.

It may import all of `zermelo.search`, and nothing else in `zermelo.search` may import it.
"""
