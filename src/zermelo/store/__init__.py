"""The store: one SQLite file of matches, runs and analyses that any program can query.

`database` opens and migrates the file; `matches`, `runs` and `history` read and write its tables,
which docs/arena.md describes. The arena, the studio and the commands import this package.
"""
