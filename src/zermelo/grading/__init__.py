"""Grading: players measured against perfect play; `grade` is the entry point.

`oracle` and `graph` give the exact value of every move, `policy` a player's choice in every state,
`unbeatable` tries every reply, `random_opponent` computes exact results against random play, and
`position_sets` and `generate` read and make labelled positions. `cli` and `learn` may import it.
"""
