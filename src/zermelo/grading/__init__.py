"""Grading: players measured against perfect play; `grade` is the entry point.

`oracle` and `graph` give the exact value of every move, `policy` gives a player's choice in every
state, `unbeatable` tries every reply to a player, `random_opponent` computes exact results against
random play, `position_sets` reads labelled positions and `generate` makes them. `cli` and `learn`
may import this package.
"""
