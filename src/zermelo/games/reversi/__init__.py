"""Reversi (Othello): the rules, the solver's endgame knowledge, and the pattern evaluation of 8x8.

`rules` builds on nothing but board geometry; `patterns` adds an evaluation to the 8x8 game.
Everything above `games` may import this package.
"""
