"""Reversi (Othello): the rules, the solver's endgame knowledge, and the pattern evaluation of 8x8.

`rules` defines the game, `endgame` and `patterns` its solver hooks. Every package above `games` may
import this package.
"""
