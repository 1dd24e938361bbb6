"""Proofs for games in Python files: the strategy lists the `repr` of each state.

`check_rules_proof.py` checks such a file with the rules in the game's file. docs/proofs.md
describes the format.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zermelo.core.errors import TooLarge, ZermeloError
from zermelo.core.files import write_atomically
from zermelo.core.game import Game, WordGame
from zermelo.search.limits import SearchClock
from zermelo.search.solver.solution import solver_for
from zermelo.search.textbook import TextbookSearch

MAX_POSITIONS = 200_000
_MAX_BYTES = 20_000_000
_OWNERS = {1: ("first", (0,)), -1: ("second", (1,)), 0: ("draw", (0, 1))}

Progress = Callable[[str], None]
_FindMove = Callable[[Any], int]  # a state → an action that keeps the value


@dataclass(frozen=True)
class RulesProof:
    """A claim about a game in a file, and a line for each position of a strategy."""

    game: Game
    claim: str  #: the winner, "first" or "second", or "draw"
    lines: list[str]

    def to_text(self) -> str:
        """Return the text of the file."""
        digest = hashlib.sha256(Path(self.game.spec).read_bytes()).hexdigest()
        name = Path(self.game.spec).name
        header = "zermelo rules proof 1", f"game {name}", f"source {digest}", f"claim {self.claim}"
        return "\n".join([*header, *self.lines, ""])

    def write(self, path: Path) -> int:
        """Write the file atomically and return its size in bytes."""
        data = self.to_text().encode()
        write_atomically(path, data, durable=True, mode=0o644)
        return len(data)


def prove_rules(game: Game, progress: Progress) -> RulesProof:
    """Return a proof of the value of a game in a file.

    Raise ZermeloError if the game's states cannot be written as text, and TooLarge if the strategy
    is too large.
    """
    _check_state(game, game.initial())
    sign, find_move = _solve(game, progress)
    value = sign if game.player(game.initial()) == 0 else -sign
    claim, owners = _OWNERS[value]
    lines: list[str] = []
    for owner in owners:
        lines += _list_strategy(game, owner, find_move, progress)
    return RulesProof(game, claim, lines)


def _solve(game: Game, progress: Progress) -> tuple[int, _FindMove]:
    """Return the sign of the game's value, and a function that finds moves that keep a value."""
    start = game.initial()
    if not isinstance(game, WordGame):
        search = TextbookSearch(game, method="both", distance=True)
        try:
            best = search.best_actions(start)[0]
        except RecursionError:
            msg = f"{game.spec}: games are too long for a recursive search"
            raise TooLarge(msg) from None
        return (best > 0) - (best < 0), lambda state: search.best_actions(state)[1][0]
    solver = solver_for(game)
    clock = SearchClock(progress=lambda nodes: progress(f"{nodes:,} positions searched"))

    def find_move(state: Any) -> int:
        score = solver.score(state, clock)
        return next(a for a in game.actions(state) if solver.reaches(state, a, score, clock))

    return solver.sign(start, clock), find_move


def _list_strategy(game: Game, owner: int, find_move: _FindMove, progress: Progress) -> list[str]:
    """Return a line for every position that the owner of a strategy can meet on its turn."""
    lines: list[str] = []
    num_bytes = 0
    pending, seen = [game.initial()], {game.initial()}
    while pending:
        state = pending.pop()
        actions = game.actions(state)
        if actions and game.player(state) == owner:
            actions = [find_move(state)]
            lines.append(f"{game.to_text(state, actions[0])} {state!r}")
            num_bytes += len(lines[-1]) + 1
            progress(f"{len(lines):,} positions listed")
        if len(seen) > MAX_POSITIONS or num_bytes > _MAX_BYTES:
            msg = f"{game.spec}: a strategy needs more than {MAX_POSITIONS:,} positions or 20 MB"
            raise TooLarge(msg)
        for child in (game.play(state, action) for action in actions):
            if child not in seen:
                seen.add(child)
                pending.append(child)
    return lines


def _check_state(game: Game, state: Any) -> None:
    """Raise ZermeloError if equal states may have different reprs."""
    parts = [state]
    while parts:
        part = parts.pop()
        if isinstance(part, tuple):
            parts += part
        elif not isinstance(part, int | str | bytes | None):
            msg = (
                f"cannot prove {game.spec} in a file: a state must consist of tuples, ints and "
                f"texts, but it contains {type(part).__name__}"
            )
            raise ZermeloError(msg)
