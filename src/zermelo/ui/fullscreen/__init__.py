"""The full-screen terminal: a board, live analysis and the moves around a Session.

`board` draws and takes clicks, `panels` stand beside it, `dialogs` ask, `app` binds the keys. It
needs textual; nothing but the command imports it.
"""
