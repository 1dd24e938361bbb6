"""The solver: exact scores of bitboard games, solutions of positions, and the opening-book builder.

`solver` finds scores and bounds of states, `solution` solves positions within a limit
and `book_builder` builds opening books. Proofs, explanations and everything above `search` may
import this package.
"""
