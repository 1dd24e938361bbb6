"""The window: shows a session as a board and a panel, at 60 frames per second.

`layout` and `panel` define where things are, `menu_items` lists the menu items, `board` and
`drawing` draw, and `app` handles input. This package needs pygame-ce; only `cli` imports it.
"""

import os

# Without this setting, importing pygame prints a greeting.
os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
