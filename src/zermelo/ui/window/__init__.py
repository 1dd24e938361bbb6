"""The window: a board and a panel around a session, at 60 frames per second.

`layout` and `panel` say where things are, `menu_items` what the menus offer, `board` and `drawing`
draw, `app` handles input. It needs pygame-ce; only cli imports it.
"""

import os

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # else the import prints a greeting
