"""The full-screen interface: board, live analysis and moves of a session, in the terminal.

`app` binds the keys, `board` draws the position and takes clicks, `panels` has the other widgets,
and `dialogs` the dialogs. This package needs textual; only `cli` imports it.
"""
