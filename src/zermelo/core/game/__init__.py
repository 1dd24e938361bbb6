"""The contract of a game: `Game` for any rules, `WordGame` and `BoardGame` for rules that compile.

`SolverHooks` tells the solver what is known about a `WordGame` without search. This package imports
only modules of `zermelo.core`; every package above `core` may import it.
"""

from zermelo.core.game.board_game import BoardGame
from zermelo.core.game.contract import Game
from zermelo.core.game.mask_game import MaskGame
from zermelo.core.game.solver_hooks import SolverHooks
from zermelo.core.game.word_game import WordGame

__all__ = ["BoardGame", "Game", "MaskGame", "SolverHooks", "WordGame"]
