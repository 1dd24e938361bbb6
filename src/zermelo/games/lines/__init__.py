"""The family of line games: rules, notation, large boards, renju and solver hooks.

`rules` defines every game of the family, and the other modules build on it; the registry chooses
the class for each spec. Every package above `games` may import this package.
"""
