"""Search on boards above 64 cells: selective alpha-beta, and threat search for forced wins.

`large.engine` is the only module that the rest of `zermelo.search` imports. `search.engines`
creates the engines. From the rest of `zermelo.search`, this package imports only `search.engine`
and `search.limits`.
"""
