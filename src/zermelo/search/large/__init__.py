"""Search on boards above 64 cells: alpha-beta with a move limit, and threat search for forced wins.

`engine` is the entry point, created by `search.engines`. Imports `search.engine` and
`search.limits`; nothing else in `zermelo.search` imports the other modules here.
"""
