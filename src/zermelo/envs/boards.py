"""Tables: the one game that an environment has running, fast for word games, plain for others."""

import copy
import functools
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from zermelo.core.bitboard import popcount
from zermelo.core.game import Game, WordGame
from zermelo.envs.planes import Array, Planes
from zermelo.kernels import compiled, kernel

ANEW = -1  #: the action that starts the game again
Answer = tuple[bool, int, int]  #: over, value for the side to move, the side to move


class Table(Protocol):
    """What an environment needs of its running game."""

    shape: tuple[int, int, int]
    play: Callable[[Any], Answer]  #: play a legal action, or ANEW

    @property
    def state(self) -> Any:
        """The state as the rules know it."""

    def is_legal(self, action: Any) -> bool:
        """Whether an action in range may be played."""

    def planes(self, *, mover: bool) -> Array:
        """A fresh observation, for the side to move or for the other."""

    def mask(self) -> Array:
        """A fresh mask of the legal actions."""


def table_for(game: Game, planes: int) -> Table:
    """The fast one where it can be had: a word game with planes of stones alone."""
    if isinstance(game, WordGame) and game.grid and game.num_words == 3 and planes == 2:
        return WordTable(game)
    return PlainTable(game, planes)


class PlainTable:
    """Any game with a board, in plain Python."""

    def __init__(self, game: Game, planes: int) -> None:
        self._planes = Planes(game, planes)
        self.shape = self._planes.shape
        self._game = self._planes.game
        self.state: Any = None
        self.play: Callable[[Any], Answer] = self._play
        self.play(ANEW)

    def _play(self, action: Any) -> Answer:
        game = self._game
        self.state = game.initial() if action == ANEW else game.play(self.state, int(action))
        over, value = game.result(self.state)
        return bool(over), int(value), game.player(self.state)

    def is_legal(self, action: Any) -> bool:
        """By the mask."""
        return bool(self.mask()[action])

    def planes(self, *, mover: bool) -> Array:
        """Made when asked."""
        player = self._game.player(self.state)
        return self._planes.observe(self.state, player if mover else 1 - player)

    def mask(self) -> Array:
        """Made when asked."""
        return self._planes.mask(self.state)


@kernel("uint64[::1], int8[:,::1], int8[::1], int64")
def advance(game: WordGame, words: Any, planes: Any, mask: Any, action: Any) -> Any:
    """Play an action on the state in `words`, or start anew; fill planes and mask for the mover.

    `planes` are [own or other, cell]. Returns (over, value, player).
    """
    state = game.initial()
    if action != ANEW:
        state = game.play((words[0], words[1], words[2]), action)
    words[0], words[1], words[2] = state
    for cell in range(planes.shape[1]):
        planes[0, cell] = (state[0] >> cell) & 1
        planes[1, cell] = (state[1] >> cell) & 1
    legal = game.legal(state)
    for bit in range(min(len(mask), 64)):
        mask[bit] = (legal >> bit) & 1
    if len(mask) > 64:
        mask[64] = 0
    if legal == 0:
        mask[len(mask) - 1] = 1
    over, value = game.result(state)
    return over, value, popcount(state[2])


class WordTable:
    """A word game: one kernel call a move, which also writes what is to be observed."""

    def __init__(self, game: WordGame) -> None:
        assert game.grid is not None
        rows, cols = game.grid.rows, game.grid.cols
        self.shape = (2, rows, cols)
        self._words = np.zeros(3, np.uint64)
        # One flat array, shared with the kernel: a second view of it would part company in copies.
        self._seen = np.zeros((2, rows * cols), np.int8)
        self._mask = np.zeros(game.num_actions, np.int8)
        # Constants passed at run time would cost more than the move itself: freeze them in.
        frozen = copy.copy(game)
        frozen.specialised = True
        run = compiled(advance, frozen)
        self.play: Callable[[Any], Answer] = functools.partial(
            run, self._words, self._seen, self._mask
        )
        self.play(ANEW)

    @property
    def state(self) -> Any:
        """The state as the rules know it."""
        return tuple(int(word) for word in self._words)

    def is_legal(self, action: Any) -> bool:
        """By the mask."""
        return bool(self._mask[action])

    def planes(self, *, mover: bool) -> Array:
        """A copy, the player's own stones first."""
        return (self._seen.copy() if mover else self._seen[::-1].copy()).reshape(self.shape)

    def mask(self) -> Array:
        """A copy."""
        return self._mask.copy()
