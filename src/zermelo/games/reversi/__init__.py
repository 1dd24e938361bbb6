"""Reversi (Othello): the rules, the solver's endgame knowledge, and the pattern evaluation of 8x8.

`rules` is the game; `endgame` and `patterns` are the solver hooks that it offers. Everything above
`games` may import this package.
"""
