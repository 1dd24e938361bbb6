"""Inspecting: what a learner is shown of a position, number by number. No torch.

Encoders and shaping fit some games and not others; what does not fit is left out, with the reason.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zermelo.core.bitboard import bits
from zermelo.core.errors import BadSpec
from zermelo.core.game import Game, WordGame
from zermelo.games.lines.tactics import WordLineGame
from zermelo.learn.batch import shaping
from zermelo.learn.batch.encoders import Encoder

if TYPE_CHECKING:
    from zermelo.core.position import Position

ENCODERS = ("cells", "planes", "threats", "features", "lines")
_SEATS = ("first", "second")
_Lines = dict[tuple[int, ...], set[int]]  # stones in a line, and the cells that one more may take


@dataclass(frozen=True)
class Pattern:
    """One pattern on the board; `shaping` says what each kind is."""

    kind: str
    stones: tuple[int, ...]  #: cells
    needs: tuple[int, ...]  #: of a three the cells that complete it, of a two those that open it

    def to_json(self, game: WordLineGame) -> dict[str, Any]:
        """With the names of cells."""
        stones, needs = ([game.grid.text(c) for c in cells] for cells in (self.stones, self.needs))
        return {"kind": self.kind, "stones": stones, "needs": needs}


def patterns(game: WordLineGame, own: int, free: int) -> list[Pattern]:
    """All of one side's, in the order of `shaping.VALUES`; each as often as it is counted."""
    twos: list[_Lines] = []
    threes: list[_Lines] = []
    for begins, step in game.win_windows:
        twos.append({})
        threes.append({})
        for gap in range(game.win):
            for first in bits(shaping.threes(game, begins, step, gap, own, free)):
                line = [first + step * place for place in range(game.win)]
                threes[-1].setdefault((*line[:gap], *line[gap + 1 :]), set()).add(line[gap])
        for gap in range(game.win - 1):
            for first in bits(shaping.open_twos(game, begins, step, gap + 1, own, free)):
                line = [first + step * place for place in range(1, game.win)]
                twos[-1].setdefault((*line[:gap], *line[gap + 1 :]), set()).add(line[gap])
    kinds = (
        ("open two", twos, (1, 2)),
        ("half-open three", threes, (1,)),
        ("open three", threes, (2,)),
    )
    found = [
        Pattern(kind, stones, tuple(sorted(cells)))
        for kind, directions, numbers in kinds
        for lines in directions
        for stones, cells in lines.items()
        if len(cells) in numbers
    ]
    return found + _forks(own, threes)


def _forks(own: int, threes: list[_Lines]) -> list[Pattern]:
    found = []
    for stone in bits(own):
        ways = [
            [cells for stones, cells in here.items() if stone in stones]
            for here in threes
            if any(stone in stones for stones in here)
        ]
        if len(ways) > 1:
            needs = set().union(*(cells for way in ways for cells in way))
            found.append(Pattern("fork", (stone,), tuple(sorted(needs))))
    return found


def inspect(position: "Position", spec: str) -> dict[str, Any]:
    """Everything, as the JSON that docs/encoders.md describes."""
    shown, left_out = _encoded(position)
    found: dict[str, Any] = {
        "game": spec,
        "moves": position.moves,
        "to_move": position.player,
        "drawing": str(position),
        "encoders": shown,
        "patterns": None,
        "shaping": None,
        "left_out": left_out,
    }
    if isinstance(position.game, WordLineGame):
        found["patterns"] = _patterns(position.game, position.state)
        found["shaping"] = _shaping(position, position.game)
    else:
        left_out["patterns"] = left_out["shaping"] = (
            f"patterns are those of line games up to 64 cells, not of {position.game.spec}"
        )
    return found


def _encoded(position: "Position") -> tuple[dict[str, Any], dict[str, str]]:
    """(the numbers of every encoder that fits, why others do not)."""
    shown: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    for name in ENCODERS:
        try:
            encoder = _encoder(name, position.game)
        except BadSpec as error:
            left_out[name] = str(error)
            continue
        values = encoder(np.array([position.state], np.uint64))[0]
        shown[name] = {
            "shape": list(encoder.shape),
            "names": encoder.names,
            "values": [round(float(value), 6) for value in values.ravel()],
        }
    return shown, left_out


def _encoder(name: str, game: Game) -> Encoder:
    if not isinstance(game, WordGame):
        msg = f"encoders are for games up to 64 cells, not for {game.spec}"
        raise BadSpec(msg)
    return Encoder(name, game)


def _patterns(game: WordLineGame, state: Any) -> dict[str, Any]:
    """By who has them."""
    free = game.full ^ (state[0] | state[1])
    sides = (state[0], state[1]) if game.player(state) == 0 else (state[1], state[0])
    return {
        seat: [pattern.to_json(game) for pattern in patterns(game, own, free)]
        for seat, own in zip(_SEATS, sides, strict=True)
    }


def _shaping(position: "Position", game: WordLineGame) -> dict[str, Any]:
    """The potential, and with a last move what that one is rewarded with, undiscounted."""
    before = _before(position)
    player = position.player if before is None else before.player
    after = _counts(game, position.state)
    here = _potential(after, player, over=position.is_over)
    found: dict[str, Any] = {
        "player": player,
        "values": shaping.VALUES,
        "before": None,
        "after": {**after, "potential": round(sum(here.values()), 6)},
        "parts": None,
        "reward": None,
        "changes_nothing": None,
    }
    if before is not None:
        counts = _counts(game, before.state)
        there = _potential(counts, player, over=False)
        parts = {kind: round(here[kind] - there[kind], 6) for kind in here}
        found["before"] = {**counts, "potential": round(sum(there.values()), 6)}
        found["parts"], found["reward"] = parts, round(sum(parts.values()), 6)
        found["changes_nothing"] = counts == after
    return found


def _before(position: "Position") -> "Position | None":
    """The position before the last move, where that is known."""
    if not position.history:
        return None
    earlier = position.game.start()
    for action in position.history[:-1]:
        earlier = earlier.play_action(action)
    return earlier


def _counts(game: WordLineGame, state: Any) -> dict[str, dict[str, int]]:
    kinds = {
        seat: [pattern["kind"] for pattern in found]
        for seat, found in _patterns(game, state).items()
    }
    return {seat: {k: found.count(k) for k in shaping.VALUES} for seat, found in kinds.items()}


def _potential(counts: dict[str, dict[str, int]], player: int, *, over: bool) -> dict[str, float]:
    """What each kind adds to the potential that `player` sees; nothing where the game is over."""
    own, other = counts[_SEATS[player]], counts[_SEATS[1 - player]]
    values = shaping.VALUES
    return {kind: 0.0 if over else values[kind] * (own[kind] - other[kind]) for kind in values}


def to_text(found: dict[str, Any]) -> str:
    """The same for people."""
    parts = [found["drawing"]]
    for name, shown in found["encoders"].items():
        draw = {1: _numbers_text, 2: _turns_text, 3: _planes_text}[len(shown["shape"])]
        parts.append(f"{name}: {draw(shown)}")
    if found["patterns"] is not None:
        parts += [_patterns_text(found["patterns"]), _shaping_text(found["shaping"])]
    reasons = dict.fromkeys(found["left_out"].values())
    left_out = [
        f"without {', '.join(n for n, why in found['left_out'].items() if why == reason)}: {reason}"
        for reason in reasons
    ]
    return "\n\n".join([*parts, *(["\n".join(left_out)] if left_out else [])])


def _planes_text(shown: dict[str, Any]) -> str:
    """Planes side by side."""
    planes, rows, cols = shown["shape"]
    titles = [shown["names"][plane * rows * cols].rpartition(" ")[0] for plane in range(planes)]
    width = max(2 * cols + 2, *(len(title) + 2 for title in titles))
    values = np.array(shown["values"]).reshape(shown["shape"])
    lines = ["".join(f"{title:{width}}" for title in titles)]
    for row in range(rows):
        texts = [" ".join("1" if cell else "." for cell in plane[row]) for plane in values]
        lines.append("".join(f"{text:{width}}" for text in texts))
    return "\n".join(
        [f"{planes} planes of {rows}x{cols}", *(f"  {line.rstrip()}" for line in lines)]
    )


def _numbers_text(shown: dict[str, Any]) -> str:
    """Numbers by name, those that are not 0."""
    pairs = [(n, v) for n, v in zip(shown["names"], shown["values"], strict=True) if v]
    lines = [f"  {name:27}{value:+g}" for name, value in pairs]
    zeros = len(shown["values"]) - len(pairs)
    return "\n".join([f"{len(shown['values'])} numbers, {zeros} of them 0", *lines])


def _turns_text(shown: dict[str, Any]) -> str:
    """The numbers of the board as it stands, ten in a line; the other turns look alike."""
    turns, size = shown["shape"]
    numbers = [f"{value:5g}" for value in shown["values"][:size]]
    lines = ["  " + "".join(numbers[at : at + 10]) for at in range(0, size, 10)]
    return "\n".join([f"{size} numbers in each of {turns} turns, here those of the first", *lines])


def _patterns_text(patterns: dict[str, Any]) -> str:
    lines = ["patterns:"]
    for seat, found in patterns.items():
        lines += [
            f"  {seat:7} {p['kind']:16} {' '.join(p['stones'])}, then {' or '.join(p['needs'])}"
            for p in found
        ]
    return "\n".join(lines if len(lines) > 1 else ["patterns: none"])


def _shaping_text(found: dict[str, Any]) -> str:
    seat, after, before = _SEATS[found["player"]], found["after"], found["before"]
    if before is None:
        return f"shaping: potential {after['potential']:+g} for the {seat} player, who moves"
    head = f"shaping of the last move, by the {seat} player (patterns of first / second)"
    lines = [f"{head}:", f"  {'':16} {'before':>10} {'after':>10} {'reward':>8}"]
    for kind, part in found["parts"].items():
        columns = [f"{c['first'][kind]} / {c['second'][kind]}" for c in (before, after)]
        lines.append(f"  {kind:16} {columns[0]:>10} {columns[1]:>10} {part:>+8g}")
    potentials = [f"{c['potential']:+g}" for c in (before, after)]
    lines.append(
        f"  {'potential':16} {potentials[0]:>10} {potentials[1]:>10} {found['reward']:>+8g}"
    )
    lines += ["  it changes no pattern"] if found["changes_nothing"] else []
    return "\n".join(lines)
