"""The solver of bitboard games: exact scores, solutions of positions, and opening books.

`solver` finds scores and bounds of states, `solution` solves positions within a limit
and `book_builder` builds opening books. Proofs, explanations and everything above `search` may
import this package.
"""
