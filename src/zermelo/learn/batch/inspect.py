"""Show how a learner sees a position: encodings, patterns and the parts of the shaping reward.

For encoders and shaping that do not fit the game, the reason is shown instead. Torch is not needed.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from zermelo.core.bitboard import bits
from zermelo.core.errors import BadSpec
from zermelo.core.game import Game, WordGame
from zermelo.core.position import Position
from zermelo.games.lines.small import WordLineGame
from zermelo.learn.batch import shaping
from zermelo.learn.batch.encoders import Encoder

ENCODERS = ("cells", "planes", "threats", "features", "lines")
_SEATS = ("first", "second")
_Lines = dict[tuple[int, ...], set[int]]  # stones in a line → empty cells that complete the line


@dataclass(frozen=True)
class Pattern:
    """One pattern on the board; `zermelo.learn.batch.shaping` defines the kinds."""

    kind: str
    stones: tuple[int, ...]  #: cells of the stones
    needs: tuple[int, ...]  #: cells that complete a three, or turn a two into an open three

    def to_dict(self, game: WordLineGame) -> dict[str, Any]:
        """Return the pattern with the names of its cells."""
        stones, needs = ([game.grid.text(c) for c in cells] for cells in (self.stones, self.needs))
        return {"kind": self.kind, "stones": stones, "needs": needs}


def find_patterns(game: WordLineGame, own: int, free: int) -> list[Pattern]:
    """Return all patterns of one side, in the order of `shaping.PATTERN_VALUES`."""
    twos: list[_Lines] = []
    threes: list[_Lines] = []
    for begins, step in game.win_windows:
        twos.append({})
        threes.append({})
        for gap in range(game.win):
            for first in bits(shaping.find_threes(game, begins, step, gap, own, free)):
                line = [first + step * place for place in range(game.win)]
                threes[-1].setdefault((*line[:gap], *line[gap + 1 :]), set()).add(line[gap])
        for gap in range(game.win - 1):
            for first in bits(shaping.find_open_twos(game, begins, step, gap + 1, own, free)):
                line = [first + step * place for place in range(1, game.win)]
                twos[-1].setdefault((*line[:gap], *line[gap + 1 :]), set()).add(line[gap])
    kinds = (
        ("open two", twos, (1, 2)),
        ("half-open three", threes, (1,)),
        ("open three", threes, (2,)),
    )
    patterns = [
        Pattern(kind, stones, tuple(sorted(cells)))
        for kind, directions, numbers in kinds
        for lines in directions
        for stones, cells in lines.items()
        if len(cells) in numbers
    ]
    return patterns + _find_forks(own, threes)


def _find_forks(own: int, threes: list[_Lines]) -> list[Pattern]:
    forks = []
    for stone in bits(own):
        directions = [
            [cells for stones, cells in lines.items() if stone in stones]
            for lines in threes
            if any(stone in stones for stones in lines)
        ]
        if len(directions) > 1:
            needs = set().union(*(cells for direction in directions for cells in direction))
            forks.append(Pattern("fork", (stone,), tuple(sorted(needs))))
    return forks


def inspect(position: Position, spec: str) -> dict[str, Any]:
    """Return a position's encodings, patterns and shaping reward as JSON; see docs/encoders.md."""
    encodings, left_out = _encode(position)
    result: dict[str, Any] = {
        "game": spec,
        "moves": position.moves,
        "to_move": position.player,
        "drawing": str(position),
        "encoders": encodings,
        "patterns": None,
        "shaping": None,
        "left_out": left_out,
    }
    if isinstance(position.game, WordLineGame):
        result["patterns"] = _patterns_by_seat(position.game, position.state)
        result["shaping"] = _explain_shaping(position, position.game)
    else:
        left_out["patterns"] = left_out["shaping"] = (
            f"patterns are for line games up to 64 cells, not for {position.game.spec}"
        )
    return result


def _encode(position: Position) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the outputs of the encoders that fit the game, and why the other ones do not fit."""
    encodings: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    for name in ENCODERS:
        try:
            encoder = _build_encoder(name, position.game)
        except BadSpec as error:
            left_out[name] = str(error)
            continue
        values = encoder(np.array([position.state], np.uint64))[0]
        encodings[name] = {
            "shape": list(encoder.shape),
            "names": encoder.names,
            "values": [round(float(value), 6) for value in values.ravel()],
        }
    return encodings, left_out


def _build_encoder(name: str, game: Game) -> Encoder:
    if not isinstance(game, WordGame):
        msg = f"encoders are for games up to 64 cells, not for {game.spec}"
        raise BadSpec(msg)
    return Encoder(name, game)


def _patterns_by_seat(game: WordLineGame, state: Any) -> dict[str, Any]:
    free = game.full ^ (state[0] | state[1])
    sides = (state[0], state[1]) if game.player(state) == 0 else (state[1], state[0])
    return {
        seat: [pattern.to_dict(game) for pattern in find_patterns(game, own, free)]
        for seat, own in zip(_SEATS, sides, strict=True)
    }


def _explain_shaping(position: Position, game: WordLineGame) -> dict[str, Any]:
    """Return the potential and, if the last move is known, its undiscounted shaping reward."""
    before = _previous_position(position)
    player = position.player if before is None else before.player
    after = _count_patterns(game, position.state)
    potential = _potential_parts(after, player, over=position.is_over)
    result: dict[str, Any] = {
        "player": player,
        "values": shaping.PATTERN_VALUES,
        "before": None,
        "after": {**after, "potential": round(sum(potential.values()), 6)},
        "parts": None,
        "reward": None,
        "changes_nothing": None,
    }
    if before is not None:
        counts = _count_patterns(game, before.state)
        earlier = _potential_parts(counts, player, over=False)
        parts = {kind: round(potential[kind] - earlier[kind], 6) for kind in potential}
        result["before"] = {**counts, "potential": round(sum(earlier.values()), 6)}
        result["parts"], result["reward"] = parts, round(sum(parts.values()), 6)
        result["changes_nothing"] = counts == after
    return result


def _previous_position(position: Position) -> Position | None:
    """Return the position before the last move, or None if the moves are not known."""
    if not position.history:
        return None
    earlier = position.game.start()
    for action in position.history[:-1]:
        earlier = earlier.play_action(action)
    return earlier


def _count_patterns(game: WordLineGame, state: Any) -> dict[str, dict[str, int]]:
    counts = {}
    for seat, patterns in _patterns_by_seat(game, state).items():
        kinds = [pattern["kind"] for pattern in patterns]
        counts[seat] = {kind: kinds.count(kind) for kind in shaping.PATTERN_VALUES}
    return counts


def _potential_parts(
    counts: dict[str, dict[str, int]], player: int, *, over: bool
) -> dict[str, float]:
    """Return each pattern kind's contribution to `player`'s potential: 0 if the game is over."""
    own, other = counts[_SEATS[player]], counts[_SEATS[1 - player]]
    values = shaping.PATTERN_VALUES
    return {kind: 0.0 if over else values[kind] * (own[kind] - other[kind]) for kind in values}


def to_text(result: dict[str, Any]) -> str:
    """Return the result of `inspect` as text."""
    parts = [result["drawing"]]
    for name, encoding in result["encoders"].items():
        to_lines = {1: _numbers_text, 2: _symmetries_text, 3: _planes_text}
        parts.append(f"{name}: {to_lines[len(encoding['shape'])](encoding)}")
    if result["patterns"] is not None:
        parts += [_patterns_text(result["patterns"]), _shaping_text(result["shaping"])]
    if result["left_out"]:
        parts.append(_left_out_text(result["left_out"]))
    return "\n\n".join(parts)


def _left_out_text(left_out: dict[str, str]) -> str:
    names: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        names.setdefault(reason, []).append(name)
    return "\n".join(f"without {', '.join(names[reason])}: {reason}" for reason in names)


def _planes_text(encoding: dict[str, Any]) -> str:
    """Draw the planes of an encoding side by side."""
    planes, rows, cols = encoding["shape"]
    titles = [encoding["names"][plane * rows * cols].rpartition(" ")[0] for plane in range(planes)]
    width = max(2 * cols + 2, *(len(title) + 2 for title in titles))
    values = np.array(encoding["values"]).reshape(encoding["shape"])
    lines = ["".join(f"{title:{width}}" for title in titles)]
    for row in range(rows):
        texts = [" ".join("1" if cell else "." for cell in plane[row]) for plane in values]
        lines.append("".join(f"{text:{width}}" for text in texts))
    return "\n".join(
        [f"{planes} planes of {rows}x{cols}", *(f"  {line.rstrip()}" for line in lines)]
    )


def _numbers_text(encoding: dict[str, Any]) -> str:
    """List the nonzero numbers of an encoding with their names."""
    pairs = [(n, v) for n, v in zip(encoding["names"], encoding["values"], strict=True) if v]
    lines = [f"  {name:27}{value:+g}" for name, value in pairs]
    zeros = len(encoding["values"]) - len(pairs)
    return "\n".join([f"{len(encoding['values'])} numbers, {zeros} of them 0", *lines])


def _symmetries_text(encoding: dict[str, Any]) -> str:
    """List only the numbers for the first symmetry, which is the identity, ten per line."""
    symmetries, size = encoding["shape"]
    numbers = [f"{value:5g}" for value in encoding["values"][:size]]
    lines = ["  " + "".join(numbers[at : at + 10]) for at in range(0, size, 10)]
    return "\n".join(
        [f"{size} numbers for each of {symmetries} symmetries, here for the identity", *lines]
    )


def _patterns_text(patterns: dict[str, Any]) -> str:
    lines = ["patterns:"]
    for seat, of_seat in patterns.items():
        lines += [
            f"  {seat:7} {p['kind']:16} {' '.join(p['stones'])}, then {' or '.join(p['needs'])}"
            for p in of_seat
        ]
    return "\n".join(lines if len(lines) > 1 else ["patterns: none"])


def _shaping_text(result: dict[str, Any]) -> str:
    seat, after, before = _SEATS[result["player"]], result["after"], result["before"]
    if before is None:
        return f"shaping: potential {after['potential']:+g} for the {seat} player, who is to move"
    head = f"shaping of the last move, by the {seat} player (patterns of first / second)"
    lines = [f"{head}:", f"  {'':16} {'before':>10} {'after':>10} {'reward':>8}"]
    for kind, part in result["parts"].items():
        columns = [f"{c['first'][kind]} / {c['second'][kind]}" for c in (before, after)]
        lines.append(f"  {kind:16} {columns[0]:>10} {columns[1]:>10} {part:>+8g}")
    potentials = [f"{c['potential']:+g}" for c in (before, after)]
    lines.append(
        f"  {'potential':16} {potentials[0]:>10} {potentials[1]:>10} {result['reward']:>+8g}"
    )
    lines += ["  the move changes no pattern"] if result["changes_nothing"] else []
    return "\n".join(lines)
