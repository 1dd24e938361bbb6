"""Matches: a game being played, with undo, redo and resignation, and saved games on disk.

Screens, the studio, records and commands import this package; it imports games and players, but
no search.
"""
