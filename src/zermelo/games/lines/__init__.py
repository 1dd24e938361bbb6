"""The line family: its rules, its notation, large boards, renju, and what a search knows of it.

`rules` defines every game of the family and the other modules build on it; the registry chooses
the class that serves a spec. Everything above `games` may import this package.
"""
