"""Tablebases and opening books: exact scores of many states, in memory and in checked files.

`tablebase` looks scores up, `build` finds and scores all states of a small game, `files` has the
file format, `opening_book` reads books (`solver.book_builder` builds them). Solvers, proofs and
commands may import it.
"""
