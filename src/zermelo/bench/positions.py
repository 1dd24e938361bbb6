"""Positions to measure on: drawn with fixed seeds, the same everywhere, or read from a file."""

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
from zermelo.search.negamax.runner import Runner

#: Connect Four: the stones played in each drawn set. "Easy" is decided within so many plies.
STONES = {"end": (28, 34), "middle": (16, 26), "begin-easy": (4, 14)}
_EASY_PLIES = 14


@dataclass(frozen=True)
class Positions:
    """A set of positions of one game, none of them over."""

    name: str
    positions: list[Position]
    scores: list[int] | None = None  #: as the file has them

    @property
    def states(self) -> list[Any]:
        """What the solver takes."""
        return [position.state for position in self.positions]

    def line(self, number: int) -> list[int]:
        """The actions that lead to a position."""
        return list(self.positions[number].history or ())


def connect_four(name: str, number: int) -> Positions:
    """One of the drawn sets of Connect Four, as many as asked for of always the same row."""
    from zermelo.games import registry

    game = registry.game("connect4")
    assert isinstance(game, WordGame)
    is_wanted = _ends_soon(game) if name == "begin-easy" else _any
    return Positions(name, draw(game, STONES[name], number, is_wanted=is_wanted))


def _any(_state: Any) -> bool:
    return True


def _ends_soon(game: WordGame) -> Callable[[Any], bool]:
    """Whether a state is won or lost within a few plies: a property of the state, no solver's."""
    runner = Runner(game, table_bits=16)

    def is_wanted(state: Any) -> bool:
        near = game.far - _EASY_PLIES
        runner.forget()
        won = runner.bounds(state, near - 1, near, SearchClock())[0] >= near
        return won or runner.bounds(state, -near, 1 - near, SearchClock())[1] <= -near

    return is_wanted


def draw(
    game: Game,
    stones: tuple[int, int],
    number: int,
    *,
    seed: int = 1,
    is_wanted: Callable[[Any], bool] = _any,
) -> list[Position]:
    """Different positions after random play that never wins, none of them won by one move."""
    # random() is the one method whose sequence Python promises to keep.
    rng = random.Random(seed)
    low, high = stones
    found: dict[Any, Position] = {}
    while len(found) < number:
        line = _wander(game, low + int(rng.random() * (high - low + 1)), rng)
        if line is None:
            continue
        position = game.start()
        for action in line:
            position = position.play_action(action)
        if position.state not in found and is_wanted(position.state):
            found[position.state] = position
    return list(found.values())


def _wander(game: Game, length: int, rng: random.Random) -> list[int] | None:
    """So many random actions, none of which ends the game; None where they lead nowhere."""
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


def read(path: Path, game: Game) -> list[Positions]:
    """A csv with a column `moves`, perhaps `set` and `score`; or moves alone, a position a line."""
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
            msg = f"{path}, position {number}: the game is over, there is nothing to solve"
            raise ZermeloError(msg)
        sets.setdefault(name, []).append(position)
    if not sets:
        msg = f"{path} holds no positions"
        raise ZermeloError(msg)
    return [
        Positions(name, some, scores[name] if len(scores[name]) == len(some) else None)
        for name, some in sets.items()
    ]
