"""Screens for people: the terminal line by line, the full screen and the window.

`terminal` with `commands` reads lines; `fullscreen/` and `window/` draw the view of a `session`,
whose players think in threads. Only cli imports this.
"""
