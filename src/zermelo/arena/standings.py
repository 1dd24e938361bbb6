"""The standings of a tournament, computed from its games."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from zermelo.arena import ratings
from zermelo.arena.plan import Plan
from zermelo.store.runs import GameRow, Rating

_HALF_POINTS = {"first": (2, 0), "draw": (1, 1), "second": (0, 2)}


class RepeatDetector:
    """Detects repeated games. The games must be passed in the order of their numbers.

    A repeated game between deterministic players carries no information. If a player is stochastic,
    the same game may occur twice by chance, and both games count.
    """

    def __init__(self, plan: Plan) -> None:
        self._is_stochastic = dict(zip(plan.names, plan.is_stochastic, strict=True))
        self._seen: set[tuple[str, ...]] = set()

    def is_repeat(self, row: GameRow) -> bool:
        """Return whether a game repeats an earlier one."""
        if self._is_stochastic[row.first] or self._is_stochastic[row.second]:
            return False
        key = (row.first, row.second, row.moves, row.outcome)
        if key in self._seen:
            return True
        self._seen.add(key)
        return False


@dataclass
class PairScore:
    """The score between two players; `wins` and `losses` are those of the player named first."""

    wins: int = 0
    draws: int = 0
    losses: int = 0
    repeated: int = 0


@dataclass
class Standings:
    """The results, ratings and times of all players."""

    names: tuple[str, ...]
    results: dict[tuple[str, str], PairScore]  #: by (first player, second player)
    games: int = 0
    repeated: int = 0
    ratings: dict[str, Rating] = field(default_factory=dict)
    moves: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    forfeits: Counter[tuple[str, str]] = field(default_factory=Counter)  #: by (player, reason)

    def seconds_per_move(self, name: str) -> float | None:
        """Return a player's mean thinking time, or None if it has not moved."""
        return self.seconds[name] / self.moves[name] if self.moves[name] else None

    def time_text(self, name: str) -> str:
        """Return a player's mean thinking time as text, such as 1.2 ms."""
        seconds = self.seconds_per_move(name)
        if seconds is None:
            return ""
        scale, unit = next(
            (pair for pair in ((1.0, "s"), (1e-3, "ms")) if seconds >= pair[0]), (1e-6, "µs")
        )
        value = seconds / scale
        return f"{value:.0f} {unit}" if value >= 100 else f"{value:.2g} {unit}"

    def head_to_head(self, one: str, other: str) -> PairScore:
        """Return the score of one player against another over both seats."""
        as_first, as_second = self.results[one, other], self.results[other, one]
        return PairScore(
            as_first.wins + as_second.losses,
            as_first.draws + as_second.draws,
            as_first.losses + as_second.wins,
            as_first.repeated + as_second.repeated,
        )

    def ranking(self) -> list[str]:
        """Return the players by rating, best first."""
        return sorted(self.names, key=lambda name: -self.ratings[name].rating)

    def to_rows(self) -> list[dict[str, Any]]:
        """Return the standings as a table: a row for every player, best first."""
        rows = []
        for name in self.ranking():
            rating = self.ratings[name]
            scores = [self.head_to_head(name, other) for other in self.names if other != name]
            row = {
                "player": name,
                "elo": round(rating.rating, 1),
                "low": round(rating.low, 1),
                "high": round(rating.high, 1),
                "wins": sum(score.wins for score in scores),
                "draws": sum(score.draws for score in scores),
                "losses": sum(score.losses for score in scores),
                "forfeits": sum(n for (loser, _), n in self.forfeits.items() if loser == name),
                "seconds_per_move": self.seconds_per_move(name),
            }
            rows.append(row)
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of the JSON output."""
        return {
            "players": list(self.names),
            "results": [
                {"first": first, "second": second, **vars(score)}
                for (first, second), score in self.results.items()
            ],
            "elo": {
                name: {key: round(value, 1) for key, value in rating._asdict().items()}
                for name, rating in self.ratings.items()
            },
            "repeated_games": self.repeated,
            "games": self.games,
            "seconds_per_move": {
                name: None if (mean := self.seconds_per_move(name)) is None else round(mean, 6)
                for name in self.names
            },
            "forfeits": [
                {"player": player, "reason": reason, "games": games}
                for (player, reason), games in self.forfeits.most_common()
            ],
        }


def compute_standings(plan: Plan, rows: Iterable[GameRow]) -> Standings:
    """Return the standings after these games."""
    standings = Standings(
        plan.names,
        {
            (plan.names[a], plan.names[b]): PairScore()
            for one, other in plan.pairs
            for a, b in ((one, other), (other, one))
        },
    )
    repeats = RepeatDetector(plan)
    points: Counter[tuple[int, int]] = Counter()  # lower-numbered player's half points
    games: Counter[tuple[int, int]] = Counter()  # games played; both are by (pair, opening)
    for row in sorted(rows):
        _add_game(standings, row)
        if repeats.is_repeat(row):
            standings.repeated += 1
            standings.results[row.first, row.second].repeated += 1
            continue
        fixture = plan.fixture(row.number)
        key = fixture.pair, fixture.opening
        points[key] += half_points(plan, row)
        games[key] += 1
    by_pair: dict[tuple[int, int], ratings.Openings] = {pair: Counter() for pair in plan.pairs}
    for (pair, opening), number in games.items():
        by_pair[plan.pairs[pair]][points[pair, opening], number] += 1
    players = ratings.rate_players(len(plan.names), by_pair)
    standings.ratings = dict(zip(plan.names, players, strict=True))
    return standings


def half_points(plan: Plan, row: GameRow) -> int:
    """Return the half points (0, 1 or 2) that a game gives the lower-numbered player."""
    seats = plan.fixture(row.number).seats
    return _HALF_POINTS[row.outcome][0 if seats[0] < seats[1] else 1]


def _add_game(standings: Standings, row: GameRow) -> None:
    standings.games += 1
    score = standings.results[row.first, row.second]
    score.wins += row.outcome == "first"
    score.draws += row.outcome == "draw"
    score.losses += row.outcome == "second"
    standings.moves[row.first] += row.first_moves
    standings.moves[row.second] += row.second_moves
    standings.seconds[row.first] += row.first_seconds
    standings.seconds[row.second] += row.second_seconds
    if row.reason:
        loser = row.second if row.outcome == "first" else row.first
        standings.forfeits[loser, re.sub(r": [\d.]+ s$", "", row.reason)] += 1
