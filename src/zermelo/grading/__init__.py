"""Grading: players measured against perfect play. `grade` is the whole; the rest are its parts.

`truth` and `graph` say what every move is worth, `choices` what a player does, `unbeatable`
plays every reply against it, `chances` meets a random opponent, `sets` and `maker` are positions
with their answers. Screens and training may import this; it knows search and below.
"""
