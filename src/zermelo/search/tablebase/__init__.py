"""Tablebases and opening books: exact scores of many states, in memory and in files.

`tablebase` looks up scores, `build` finds and scores all states of a small game, `files` reads and
writes the files, `opening_book` reads books (`solver.book_builder` builds them). Solvers, proofs
and commands may import this package.
"""
