"""Negamax with alpha-beta for bitboard games: kernels, their arrays and the searcher for them.

`arrays` has the layout of the arrays, `kernel` the search itself, `transposition_table` its table,
`batch` searches of many states in one call, `searcher` the Python side. Engines, solvers, proofs
and learners may import it; it imports only `limits` and `state_keys` from `search`.
"""
