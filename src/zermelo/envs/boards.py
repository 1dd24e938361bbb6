"""The running game of an environment: a kernel plays bitboard games, and Python code all others."""

import copy
import functools
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from zermelo.core.bitboard import popcount
from zermelo.core.game import Game, WordGame
from zermelo.envs.planes import Array, Planes
from zermelo.games.state_layout import is_mover_first
from zermelo.kernels.compiler import compile_kernel
from zermelo.kernels.registry import kernel

RESET = -1  #: the pseudo-action that restarts the game
StepResult = tuple[bool, int, int]  #: (over, value for the side to move, side to move)


class EnvBoard(Protocol):
    """The interface through which an environment plays and observes its game."""

    shape: tuple[int, int, int]  #: shape of an observation: [plane, row, column]
    play: Callable[[Any], StepResult]  #: play a legal action, or restart the game with RESET

    @property
    def state(self) -> Any:
        """The current state, in the form that the rules of the game use."""

    def is_legal(self, action: Any) -> bool:
        """Return whether an action is legal in the current state."""

    def observe(self, *, for_mover: bool) -> Array:
        """Return a new observation for the side to move if `for_mover`, else for the other side."""

    def action_mask(self) -> Array:
        """Return a new mask of the legal actions."""


def create_board(game: Game, planes: int) -> EnvBoard:
    """Return a WordBoard if the game and the number of planes allow it, otherwise a PlainBoard."""
    if isinstance(game, WordGame) and planes == 2 and is_mover_first(game):
        return WordBoard(game)
    return PlainBoard(game, planes)


class PlainBoard:
    """A running game with a board, implemented in plain Python."""

    def __init__(self, game: Game, planes: int) -> None:
        self._planes = Planes(game, planes)
        self.shape = self._planes.shape
        self._game = self._planes.game
        self.state: Any = None
        self.play: Callable[[Any], StepResult] = self._play
        self.play(RESET)

    def _play(self, action: Any) -> StepResult:
        game = self._game
        self.state = game.initial() if action == RESET else game.play(self.state, int(action))
        over, value = game.result(self.state)
        return bool(over), int(value), game.player(self.state)

    def is_legal(self, action: Any) -> bool:
        """Return whether an action is legal in the current state."""
        return bool(self.action_mask()[action])

    def observe(self, *, for_mover: bool) -> Array:
        """Return a new observation for the side to move if `for_mover`, else for the other side."""
        player = self._game.player(self.state)
        return self._planes.observe(self.state, player if for_mover else 1 - player)

    def action_mask(self) -> Array:
        """Return a new mask of the legal actions."""
        return self._planes.action_mask(self.state)


@kernel("uint64[::1], int8[:,::1], int8[::1], int64")
def advance(game: WordGame, words: Any, planes: Any, mask: Any, action: Any) -> Any:
    """Play an action on the state in `words`, or reset the state; then fill `planes` and `mask`.

    `planes[0, cell]` is 1 for a stone of the side to move, `planes[1, cell]` for a stone of the
    other side. Return (over, value for the side to move, side to move).
    """
    state = game.initial()
    if action != RESET:
        state = game.play((words[0], words[1], words[2]), action)
    words[0], words[1], words[2] = state
    for cell in range(planes.shape[1]):
        planes[0, cell] = (state[0] >> cell) & 1
        planes[1, cell] = (state[1] >> cell) & 1
    mask[:] = 0
    legal = game.as_mask(game.legal(state))
    if game.is_empty(legal):
        mask[len(mask) - 1] = 1
    while not game.is_empty(legal):
        mask[game.lowest_action(legal)] = 1
        legal = game.without_lowest(legal)
    over, value = game.result(state)
    return over, value, popcount(state[2])


class WordBoard:
    """A running bitboard game: one kernel call plays a move and writes the observation."""

    def __init__(self, game: WordGame) -> None:
        assert game.grid is not None
        rows, cols = game.grid.rows, game.grid.cols
        self.shape = (2, rows, cols)
        self._words = np.zeros(3, np.uint64)
        # The kernel writes into this flat array; `observe` returns copies of it, as planes.
        self._observation = np.zeros((2, rows * cols), np.int8)
        self._mask = np.zeros(game.num_actions, np.int8)
        # The constants of the rules are compiled into the kernel: passing them as arguments would
        # take longer than the move.
        specialised = copy.copy(game)
        specialised.is_specialised = True
        run = compile_kernel(advance, specialised)
        self.play: Callable[[Any], StepResult] = functools.partial(
            run, self._words, self._observation, self._mask
        )
        self.play(RESET)

    @property
    def state(self) -> Any:
        """The current state, in the form that the rules of the game use."""
        return tuple(int(word) for word in self._words)

    def is_legal(self, action: Any) -> bool:
        """Return whether an action is legal in the current state."""
        return bool(self._mask[action])

    def observe(self, *, for_mover: bool) -> Array:
        """Return a copy of the observation for the side to move if `for_mover`, else the other."""
        planes = self._observation if for_mover else self._observation[::-1]
        return planes.copy().reshape(self.shape)

    def action_mask(self) -> Array:
        """Return a copy of the mask of the legal actions."""
        return self._mask.copy()
