"""The contract of a game: `Game` for any rules, `WordGame` and `BoardGame` for those that compile.

`SolverHooks` holds what the solver may know about a `WordGame` without search. Imports only
modules of `zermelo.core`; everything above `core` may import it.
"""

from zermelo.core.game.board_game import BoardGame
from zermelo.core.game.contract import Game
from zermelo.core.game.mask_game import MaskGame
from zermelo.core.game.solver_hooks import SolverHooks
from zermelo.core.game.word_game import WordGame

__all__ = ["BoardGame", "Game", "MaskGame", "SolverHooks", "WordGame"]
