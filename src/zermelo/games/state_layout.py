"""The layout of bitboard states: whose stones the first two words hold.

Networks see a position from the view of the side to move. Encoders therefore read the first word as
the stones of the side to move and the second word as those of the other side. A game that stores
its boards by colour is solved and played correctly, but such an encoder would swap the sides in
every second position, so learning must refuse it.
"""

import functools
import random

from zermelo.core.errors import BadSpec
from zermelo.core.game import WordGame

_NUM_GAMES, _MAX_PLIES = 8, 100


@functools.lru_cache(maxsize=256)
def is_mover_first(game: WordGame) -> bool:
    """Return whether the first two words are the mover's and the other side's stones.

    The words are compared with `game.board` in every state of a few random games. A game without
    a board, or with other than three words, is not mover-first.
    """
    if game.grid is None or game.num_words != 3:
        return False
    rng = random.Random(0)
    for _ in range(_NUM_GAMES):
        state = game.initial()
        for _ in range(_MAX_PLIES):
            if state[:2] != _words_of_board(game, state):
                return False
            actions = game.actions(state)
            if not actions:
                break
            state = game.play(state, rng.choice(actions))
    return True


def check_mover_first(game: WordGame) -> None:
    """Raise BadSpec if a network cannot be given the states of a game."""
    if game.grid is None or game.num_words != 3:
        msg = f"{game.spec} cannot be encoded: it has no board with stones of two sides"
        raise BadSpec(msg)
    if not is_mover_first(game):
        msg = (
            f"{game.spec} cannot be encoded: the first word of a state must hold the stones of the "
            "side to move and the second word those of the other side, so play must swap them"
        )
        raise BadSpec(msg)


def _words_of_board(game: WordGame, state: tuple[int, ...]) -> tuple[int, int]:
    """Return the stones of the side to move and of the other side, as `game.board` shows them."""
    own = 1 if game.player(state) == 0 else -1
    board = game.board(state) or ()
    mine = sum(1 << cell for cell, stone in enumerate(board) if stone == own)
    theirs = sum(1 << cell for cell, stone in enumerate(board) if stone == -own)
    return mine, theirs
