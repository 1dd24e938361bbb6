"""Explanations: analyses of positions with verified reasons, reviews of games, and puzzles.

The top of `zermelo.search`: it may import all of it, and nothing in `zermelo.search` imports this.
"""
