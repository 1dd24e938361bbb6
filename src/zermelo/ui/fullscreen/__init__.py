"""The full screen: a board, live analysis and the moves of a session on the whole terminal.

`app` binds the keys, `board` draws the position and takes clicks, `panels` show the rest, `dialogs`
ask. It needs textual; only cli imports it.
"""
