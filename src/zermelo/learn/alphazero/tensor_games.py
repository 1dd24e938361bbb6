"""Games as tensors: the rules' one source on int64, many states at once, on any device.

A state is a row of words; planes for a network and the tactics that a search should not have to
find come from the same words. Nothing here needs a compiler.
"""

import functools
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from zermelo.core.bitboard import WORD_BITS
from zermelo.core.game import WordGame
from zermelo.core.symmetry import Symmetry, invert
from zermelo.games.lines.small import WordLineGame
from zermelo.learn.alphazero.search_options import UNKNOWN

State = tuple[Tensor, ...]  #: a tensor a word


@dataclass(frozen=True)
class Judged:
    """What is known of states without a search."""

    value: Tensor  #: for the side to move: 1, 0, -1, or UNKNOWN
    moves: Tensor  #: [row, action]: those worth trying; what wins at once, or all where all lose
    over: Tensor  #: whether the game has ended


class TensorGame:
    """The rules of one game on one device."""

    def __init__(self, game: WordGame, device: torch.device | str = "cpu") -> None:
        assert game.grid is not None
        self.game, self.device = game, torch.device(device)
        self.num_actions, self.num_words = game.num_actions, game.num_words
        self.rows, self.cols = game.grid.rows, game.grid.cols
        self._signed: Any = game.to_signed()
        self._cells = torch.arange(game.grid.size, device=self.device)
        self._actions = torch.arange(game.num_actions, device=self.device)
        turns = game.symmetries() or (_unmoved(game),)
        self.num_symmetries = len(turns)  #: symmetries, with the one that changes nothing
        self._cell_turns = torch.tensor([invert(s.cells) for s in turns], device=self.device)
        self._action_turns = torch.tensor([invert(s.actions) for s in turns], device=self.device)
        self._tactical = isinstance(game, WordLineGame) and game.hooks.has_tactics

    def start(self, number: int) -> State:
        """So many games that have not begun."""
        words = self._signed.initial()
        return tuple(torch.full((number,), int(w), device=self.device) for w in words)

    def play(self, state: State, actions: Tensor) -> State:
        """After an action of each row, which the caller vouches for."""
        found: State = self._signed.play(state, actions)
        return found

    def result(self, state: State) -> tuple[Tensor, Tensor]:
        """(over, value for the side to move)."""
        over, value = self._signed.result(state)
        return over, value

    def legal(self, state: State) -> Tensor:
        """[row, action]: what may be played, while a game runs; a pass where nothing else may."""
        found = self._spread(self._signed.legal(state))
        if self.num_actions > self._cells.numel():
            found[:, -1] |= ~found.any(1)
        return found

    def judge(self, state: State) -> Judged:
        """The end; and in line games a win now, blocks, and what would lose at once."""
        over, value = self.result(state)
        moves = self.legal(state)
        if not self._tactical:
            return Judged(torch.where(over, value, UNKNOWN), moves, over)
        game, (mine, theirs, _player) = self._signed, state
        free = game.full ^ (mine | theirs)
        places = free
        if game.gravity:
            places = free & ((((mine | theirs) >> game.cols) & game.full) | game.bottom)
        wins = game.completing_cells(mine, game.win_windows, game.win) & places
        threats = game.completing_cells(theirs, game.win_windows, game.win) & free
        safe = places
        if game.lose > 0:
            safe = places & (game.full ^ game.completing_cells(mine, game.lose_windows, game.lose))
        blocks = threats & places
        good = torch.where(blocks == 0, safe, safe & blocks)
        good = torch.where((blocks & (blocks - 1)) == 0, good, 0)
        if game.gravity:  # a stone right below the other's winning cell opens it
            good = good & (game.full ^ ((threats << game.cols) & game.full))
        known = torch.where(wins != 0, 1, torch.where((good == 0) & (free != 0), -1, UNKNOWN))
        good = torch.where(wins != 0, wins, good)
        if game.gravity:  # cells as columns
            rows = [(good >> (game.cols * row)) & game.top for row in range(self.rows)]
            good = functools.reduce(torch.bitwise_or, rows)
        narrow = ~over & (known != -1)
        if game.pie:  # what may be swapped is not looked into
            swaps = moves[:, -1]
            known, narrow = torch.where(swaps, UNKNOWN, known), narrow & ~swaps
        moves = torch.where(narrow[:, None], self._spread(good), moves)
        return Judged(torch.where(over, value, known), moves, over)

    def planes(self, state: State) -> Tensor:
        """[row, 2, rows, cols]: the mover's stones, the other's."""
        boards = torch.stack(state[:2], 1)
        found = (boards[:, :, None] >> self._cells) & 1
        return found.reshape(-1, 2, self.rows, self.cols)

    def turned(self, planes: Tensor, policies: Tensor, turns: Tensor) -> tuple[Tensor, Tensor]:
        """Both as the symmetry of this number moves them, row by row."""
        cells = self._cell_turns[turns][:, None].expand(-1, planes.shape[1], -1)
        moved = planes.flatten(2).gather(2, cells).reshape(planes.shape)
        return moved, policies.gather(1, self._action_turns[turns])

    def _spread(self, mask: Tensor) -> Tensor:
        found = (mask[:, None] >> self._actions.clamp(max=WORD_BITS - 1)) & 1
        return found.bool() & (self._actions < WORD_BITS)


def _unmoved(game: WordGame) -> Symmetry:
    """The symmetry that every game has."""
    assert game.grid is not None
    return Symmetry("", tuple(range(game.grid.size)), tuple(range(game.num_actions)))
