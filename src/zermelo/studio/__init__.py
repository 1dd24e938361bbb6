"""The studio: a web page to play, see what the engine thinks, review and learn.

`app` is the door (HTTP); `views` says what a position looks like; `thinking` runs players in
threads; `review` and `puzzles` are made of analyses. The page itself is in `page/`.
"""
