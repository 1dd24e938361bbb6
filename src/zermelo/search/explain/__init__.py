"""Explanations: analyses of positions with verified reasons, reviews of games, and puzzles.

This package may import all of `zermelo.search`; no other part of that may import this package.
"""
