"""The layout of bitboard states: which boards of a state a network sees.

Networks see a position from the view of the side to move. By default, `WordGame.planes` therefore
reads the first word as the stones of the side to move and the second word as those of the other
side. A game that stores its boards by colour is solved and played correctly, but the default would
swap the sides in every second position. Such a game must declare its layout: it overrides `planes`.
"""

import functools
import random
from collections.abc import Iterator
from typing import Any

from zermelo.core.bitboard import WORD_BITS
from zermelo.core.errors import BadSpec
from zermelo.core.game import WordGame
from zermelo.core.notation import quote_text

_NUM_GAMES, _MAX_PLIES = 8, 100


@functools.lru_cache(maxsize=256)
def is_mover_first(game: WordGame) -> bool:
    """Return whether the first two words are the mover's and the other side's stones.

    The words are compared with `game.board` in every state of a few random games. A game without
    a board, or whose states do not have three words, is not mover-first.
    """
    if game.grid is None or game.num_words != 3:
        return False
    return all(state[:2] == _words_of_board(game, state) for state in sample_states(game))


def sample_states(game: WordGame) -> Iterator[Any]:
    """Yield every state of a few random games, which are the same in every call."""
    rng = random.Random(0)
    for _ in range(_NUM_GAMES):
        state = game.initial()
        for _ in range(_MAX_PLIES):
            yield state
            actions = game.actions(state)
            if not actions:
                break
            state = game.play(state, rng.choice(actions))


def declares_planes(game: WordGame) -> bool:
    """Return whether a game declares which boards networks see, by its own `planes`."""
    return type(game).planes is not WordGame.planes


def check_planes(game: WordGame) -> None:
    """Raise BadSpec if the states of a game cannot be encoded for a network."""
    problem = _find_declaration_problem(game) if declares_planes(game) else _find_problem(game)
    if problem:
        msg = f"{game.spec} cannot be encoded: {problem}"
        raise BadSpec(msg)


def _find_problem(game: WordGame) -> str:
    """Return why the default `planes` is wrong for a game, or "" if it is right."""
    if game.grid is None or game.num_words != 3:
        return "it has no board with stones of two sides: define planes and plane_shape"
    if not is_mover_first(game):
        return (
            "the first word of a state must hold the stones of the side to move and the second "
            "word those of the other side, so play must swap them; or define planes, which returns "
            "them in this order"
        )
    if game.num_planes != 2:
        return f"num_planes is {game.num_planes}, but a game that does not define planes has 2"
    return ""


@functools.lru_cache(maxsize=256)
def _find_declaration_problem(game: WordGame) -> str:
    """Return what is wrong with the `planes` that a game declares, or "" if nothing is."""
    shape: Any = game.plane_shape
    if (
        not isinstance(shape, tuple)
        or len(shape) != 2
        or not all(type(n) is int and n > 0 for n in shape)
        or shape[0] * shape[1] > WORD_BITS
    ):
        return f"plane_shape is {shape!r}: it must be (rows, columns) with at most 64 cells"
    limit = 1 << shape[0] * shape[1]
    for state in sample_states(game):
        planes: Any = game.planes(state)
        if not isinstance(planes, tuple) or len(planes) != game.num_planes:
            expected = f"it must be a tuple of num_planes words, {game.num_planes}"
            return f"planes is {quote_text(repr(planes))}: {expected}"
        if not all(isinstance(plane, int) and 0 <= plane < limit for plane in planes):
            size = f"of plane_shape, {shape[0]}x{shape[1]}"
            return f"planes is {quote_text(repr(planes))}: each must be a word {size}"
    return ""


def _words_of_board(game: WordGame, state: tuple[int, ...]) -> tuple[int, int]:
    """Return the stones of the side to move and of the other side, as `game.board` shows them."""
    own = 1 if game.player(state) == 0 else -1
    board = game.board(state) or ()
    mine = sum(1 << cell for cell, stone in enumerate(board) if stone == own)
    theirs = sum(1 << cell for cell, stone in enumerate(board) if stone == -own)
    return mine, theirs
