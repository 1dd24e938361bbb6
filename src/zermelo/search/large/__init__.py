"""Search on boards above 64 cells: selective alpha-beta, and threat search for forced wins.

`large.engine` is the entry point: the rest of `zermelo.search` imports no other module of this
package. `search.engines` creates the engines. From the rest of `zermelo.search`, this package
imports only `search.engine` and `search.limits`.
"""
