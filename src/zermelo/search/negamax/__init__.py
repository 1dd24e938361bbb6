"""Negamax with alpha-beta for bitboard games: the kernels, their arrays and the searcher.

`arrays` defines the layout of the arrays, `kernel` is the search itself, `transposition_table`
stores its results, `batch` searches many states in one call, and `searcher` runs the kernels from
Python. Engines, solvers, proofs and learners may import this package. From the rest of
`zermelo.search`, it imports only `limits` and `state_keys`.
"""
