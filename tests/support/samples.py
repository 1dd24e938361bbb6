"""The games that contract tests run over: every name of the registry, in several sizes."""

#: Bitboard games, which compile to kernels on words.
WORDS = (
    "tictactoe",
    "tictactoe:size=4,win=3",
    "tictactoe:size=2",
    "connect4",
    "connect4:5x5",
    "connect4:rows=4,cols=10,win=3",
    "gomoku6",
    "squava",
    "squava:pie=true",
    "mnk:3x7x3",
    "mnk:1x9x3",
    "mnk:9x1x4",
    "mnk:8x8x5",
    "gomoku:size=5",
    "gomoku:size=8,overline=exact",
    "line:rows=4,cols=6,win=4,lose=2,gravity=true",
    "line:rows=7,cols=9,win=3,lose=2,overline=exact",
    "line:rows=3,cols=20,win=12",
    "line:rows=6,cols=10,win=4,gravity=true,overline=exact",
    "reversi",
    "reversi:6",
    "reversi:4",
)
#: Games on padded boards.
BOARDS = (
    "gomoku",
    "gomoku:size=11,overline=exact",
    "gomoku:size=9,renju=true",
    "connect4:12x9",
    "mnk:9x10x4",
    "line:rows=9,cols=8,win=4,lose=3",
)
SPECS = WORDS + BOARDS
