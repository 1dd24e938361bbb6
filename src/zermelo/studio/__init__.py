"""The studio: a web page for playing, live analysis, game reviews and puzzles.

`app` builds the FastAPI application from the `routers`; `page/` is the page itself, in plain
JavaScript. Only the command `zermelo studio` imports this package.
"""
