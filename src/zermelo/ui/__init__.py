"""User interfaces: the line-by-line terminal, the full screen and the window.

`terminal` and `commands` read lines; `fullscreen/` and `window/` draw the view of a `session`,
whose players think in threads. Only `cli` imports this package.
"""
