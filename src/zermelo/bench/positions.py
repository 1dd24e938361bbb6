"""Positions for benchmarks, sampled reproducibly with fixed seeds or read from a file."""

import csv
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zermelo.core.errors import ZermeloError
from zermelo.core.game import Game, WordGame
from zermelo.core.position import Position
from zermelo.search.limits import SearchClock
from zermelo.search.negamax.searcher import NegamaxSearcher

#: minimum and maximum number of stones on the board, for each set of Connect Four positions
STONE_RANGES = {"end": (28, 34), "middle": (16, 26), "begin-easy": (4, 14)}
_EASY_PLIES = 14  # easy positions are won or lost within this number of plies


@dataclass(frozen=True)
class PositionSet:
    """A named set of nonterminal positions of one game."""

    name: str
    positions: list[Position]
    scores: list[int] | None = None  #: exact scores of the positions, if they were read from a file

    @property
    def states(self) -> list[Any]:
        """The states of the positions, in the form that the solver expects."""
        return [position.state for position in self.positions]

    def history(self, number: int) -> list[int]:
        """Return the actions that lead to position `number` of this set."""
        return list(self.positions[number].history or ())


def sample_connect_four(name: str, number: int) -> PositionSet:
    """Return the first `number` positions of a set from `STONE_RANGES`."""
    from zermelo.games import registry

    game = registry.game("connect4")
    assert isinstance(game, WordGame)
    accepts = _ends_soon(game) if name == "begin-easy" else _accept_all
    return PositionSet(name, sample_positions(game, STONE_RANGES[name], number, accepts=accepts))


def _accept_all(_state: Any) -> bool:
    return True


def _ends_soon(game: WordGame) -> Callable[[Any], bool]:
    """Return a function that tells whether a state is won or lost within `_EASY_PLIES` plies."""
    searcher = NegamaxSearcher(game.hooks, table_bits=16)

    def ends_soon(state: Any) -> bool:
        near = game.hooks.win_score - _EASY_PLIES
        searcher.clear()
        won = searcher.narrow_bounds(state, near - 1, near, SearchClock())[0] >= near
        return won or searcher.narrow_bounds(state, -near, 1 - near, SearchClock())[1] <= -near

    return ends_soon


def sample_positions(
    game: Game,
    stones: tuple[int, int],
    number: int,
    *,
    seed: int = 1,
    accepts: Callable[[Any], bool] = _accept_all,
) -> list[Position]:
    """Return distinct positions from random play in which no single move ends the game.

    `stones` gives the minimum and maximum number of moves before a position. The sequence depends
    only on the seed, so a larger `number` only adds positions. `accepts` tells which to keep.
    """
    # random() is the only method whose sequence Python guarantees to keep in later versions.
    rng = random.Random(seed)
    low, high = stones
    positions: dict[Any, Position] = {}
    while len(positions) < number:
        actions = _play_quiet_moves(game, low + int(rng.random() * (high - low + 1)), rng)
        if actions is None:
            continue
        position = game.start()
        for action in actions:
            position = position.play_action(action)
        if position.state not in positions and accepts(position.state):
            positions[position.state] = position
    return list(positions.values())


def _play_quiet_moves(game: Game, length: int, rng: random.Random) -> list[int] | None:
    """Return `length` random actions after which no single move ends the game, or None.

    None of the actions ends the game. None is returned if the random choices lead to a state in
    which this is not possible.
    """
    state = game.initial()
    line: list[int] = []
    while True:
        quiet = [a for a in game.actions(state) if not game.result(game.play(state, a))[0]]
        if len(line) == length:
            return line if len(quiet) == len(game.actions(state)) else None
        if not quiet:
            return None
        action = quiet[int(rng.random() * len(quiet))]
        line.append(action)
        state = game.play(state, action)


def read_positions(path: Path, game: Game) -> list[PositionSet]:
    """Read position sets from a CSV file with a column `moves` and optionally `set` and `score`.

    Each line of a file without a header contains the moves of one position. Raise ZermeloError if
    the file cannot be read or a position is not valid.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        msg = f"cannot read positions from {path}: {error}"
        raise ZermeloError(msg) from None
    if not lines or "moves" not in lines[0].split(","):
        lines = ["moves", *(line.replace(",", " ") for line in lines if line.strip())]
    sets: dict[str, list[Position]] = {}
    scores: dict[str, list[int]] = {}
    for number, row in enumerate(csv.DictReader(lines), 1):
        name = row.get("set") or path.stem
        try:
            position = game.position(moves=row["moves"] or "")
            scores.setdefault(name, []).extend([int(row["score"])] if row.get("score") else [])
        except (ZermeloError, ValueError) as error:
            msg = f"{path}, position {number}: {error}"
            raise ZermeloError(msg) from None
        if position.is_over:
            msg = f"{path}, position {number}: the game is over, so there is nothing to solve"
            raise ZermeloError(msg)
        sets.setdefault(name, []).append(position)
    if not sets:
        msg = f"{path} holds no positions"
        raise ZermeloError(msg)
    return [
        PositionSet(name, positions, scores[name] if len(scores[name]) == len(positions) else None)
        for name, positions in sets.items()
    ]
