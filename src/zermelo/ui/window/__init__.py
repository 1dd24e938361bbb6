"""The window: a board, a panel, and a loop of 60 frames a second around a Session.

`layout` and `panel` say where things are, `board` and `drawing` draw them, `app` takes the input.
They need pygame-ce; nothing but the command imports them.
"""

import os

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # else importing it prints a line
