"""The standings: what a tournament's games come to."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from zermelo.arena import ratings
from zermelo.arena.plan import Plan
from zermelo.store.runs import GameRow, Rating

_HALF_POINTS = {"first": (2, 0), "draw": (1, 1), "second": (0, 2)}


class Repeats:
    """Tells games that are the same once more, read in the order of their numbers.

    Players that draw their moves may play a game again by chance, and it counts; where nobody
    does, a repeated game says nothing new.
    """

    def __init__(self, plan: Plan) -> None:
        self._drawn = dict(zip(plan.names, plan.is_drawn, strict=True))
        self._seen: set[tuple[str, ...]] = set()

    def is_repeat(self, row: GameRow) -> bool:
        """Whether this game was there before."""
        if self._drawn[row.first] or self._drawn[row.second]:
            return False
        key = (row.first, row.second, row.moves, row.outcome)
        if key in self._seen:
            return True
        self._seen.add(key)
        return False


@dataclass
class Tally:
    """Games of two players in these seats; wins are those of the first."""

    wins: int = 0
    draws: int = 0
    losses: int = 0
    repeated: int = 0


@dataclass
class Standings:
    """All that a table shows."""

    names: tuple[str, ...]
    results: dict[tuple[str, str], Tally]  #: by who sat first and second
    games: int = 0
    repeated: int = 0
    ratings: dict[str, Rating] = field(default_factory=dict)
    moves: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    forfeits: Counter[tuple[str, str]] = field(default_factory=Counter)  #: (player, reason)

    def pace(self, name: str) -> float | None:
        """A player's mean seconds per move."""
        return self.seconds[name] / self.moves[name] if self.moves[name] else None

    def pace_text(self, name: str) -> str:
        """The same for people, such as 1.2 ms."""
        pace = self.pace(name)
        if pace is None:
            return ""
        scale, unit = next(
            (pair for pair in ((1.0, "s"), (1e-3, "ms")) if pace >= pair[0]), (1e-6, "µs")
        )
        value = pace / scale
        return f"{value:.0f} {unit}" if value >= 100 else f"{value:.2g} {unit}"

    def meeting(self, one: str, other: str) -> Tally:
        """What one player scored against another, from both seats."""
        there, back = self.results[one, other], self.results[other, one]
        return Tally(
            there.wins + back.losses,
            there.draws + back.draws,
            there.losses + back.wins,
            there.repeated + back.repeated,
        )

    def ranked(self) -> list[str]:
        """The players, best first."""
        return sorted(self.names, key=lambda name: -self.ratings[name].rating)

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "players": list(self.names),
            "results": [
                {"first": first, "second": second, **vars(tally)}
                for (first, second), tally in self.results.items()
            ],
            "elo": {
                name: {key: round(value, 1) for key, value in rating._asdict().items()}
                for name, rating in self.ratings.items()
            },
            "repeated_games": self.repeated,
            "games": self.games,
            "seconds_per_move": {
                name: None if (pace := self.pace(name)) is None else round(pace, 6)
                for name in self.names
            },
            "forfeits": [
                {"player": player, "reason": reason, "games": games}
                for (player, reason), games in self.forfeits.most_common()
            ],
        }


def standings(plan: Plan, rows: Iterable[GameRow]) -> Standings:
    """What games come to."""
    found = Standings(
        plan.names,
        {
            (plan.names[a], plan.names[b]): Tally()
            for one, other in plan.pairs
            for a, b in ((one, other), (other, one))
        },
    )
    repeats = Repeats(plan)
    points: Counter[tuple[int, int]] = Counter()  # of the lower-numbered player
    games: Counter[tuple[int, int]] = Counter()  # both by pair and opening
    for row in sorted(rows):
        _count(found, row)
        if repeats.is_repeat(row):
            found.repeated += 1
            found.results[row.first, row.second].repeated += 1
            continue
        fixture = plan.fixture(row.number)
        key = fixture.pair, fixture.opening
        points[key] += half_points(plan, row)
        games[key] += 1
    met: dict[tuple[int, int], ratings.Openings] = {pair: Counter() for pair in plan.pairs}
    for (pair, opening), number in games.items():
        met[plan.pairs[pair]][points[pair, opening], number] += 1
    rated = ratings.rate(len(plan.names), met)
    found.ratings = dict(zip(plan.names, rated, strict=True))
    return found


def half_points(plan: Plan, row: GameRow) -> int:
    """What the lower-numbered player of a pair got: 0, 1 or 2 halves."""
    seats = plan.fixture(row.number).seats
    return _HALF_POINTS[row.outcome][0 if seats[0] < seats[1] else 1]


def _count(found: Standings, row: GameRow) -> None:
    found.games += 1
    tally = found.results[row.first, row.second]
    tally.wins += row.outcome == "first"
    tally.draws += row.outcome == "draw"
    tally.losses += row.outcome == "second"
    found.moves[row.first] += row.first_moves
    found.moves[row.second] += row.second_moves
    found.seconds[row.first] += row.first_seconds
    found.seconds[row.second] += row.second_seconds
    if row.reason:
        loser = row.second if row.outcome == "first" else row.first
        found.forfeits[loser, re.sub(r": [\d.]+ s$", "", row.reason)] += 1
