"""Actors, which play games for a trainer: the protocol, and pools of processes and on Ray.

A pool is handed the function that plays, so this package knows no trainer: the trainers and
`runs` import it, and it imports only `networks` (for types) and `config`.
"""
