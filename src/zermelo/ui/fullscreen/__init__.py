"""The full screen: a board, live analysis and the moves of a session on the whole terminal.

`app` binds the keys, `board` draws the position and takes clicks, `panels` has the other widgets,
and `dialogs` the dialogs. This package needs textual; only `cli` imports it.
"""
