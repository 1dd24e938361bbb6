"""Search on boards above 64 cells: selective alpha-beta, and threat search for forced wins.

`engine` is the entry point; `search.engines` creates the engines. From `zermelo.search`, this
package imports only `engine` and `limits`; no other package there imports its other modules.
"""
