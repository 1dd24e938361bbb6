"""The studio: a web page to play, watch the engine analyse, review games and solve puzzles.

`app` builds the FastAPI application from the `routers`; `page/` is the page itself, in plain
JavaScript. Only the command `zermelo studio` imports this package.
"""
