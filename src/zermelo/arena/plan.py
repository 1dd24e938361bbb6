"""The plan: who meets whom, from which opening and with which seeds; all of it by number.

Game `number` of a tournament is game `number // pairs` of the pair `number % pairs`, so that what
has been played is balanced at any time. Game i of a pair is played from opening i // 2, and the
seats swap with i % 2: an opening is played from both sides.
"""

import hashlib
import itertools
import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from zermelo import __version__
from zermelo.core.errors import ZermeloError
from zermelo.core.game import Game
from zermelo.games import files, registry
from zermelo.players.files import is_player_file, load_player_class, player_file_path
from zermelo.players.registry import is_stochastic, load_player, model_files, with_seed

GRACE = 1.0  #: seconds that a move may take beyond its limit
PATIENCE = 120.0  #: seconds for a move where there is no limit: beyond it a player hangs
_SMALL = 16  # cells of a board that is played from the start
_OPENING_PLIES = 2


class Fixture(NamedTuple):
    """One game to be played."""

    number: int
    pair: int  #: who meets whom, as in `Plan.pairs`
    opening: int  #: the number of its opening
    seats: tuple[int, int]  #: players by number, first and second


@dataclass(frozen=True)
class Plan:
    """All that defines the games of a tournament."""

    game: str
    players: tuple[str, ...]  #: specs
    games: int = 100  #: of each pair
    seed: int = 0
    opening_plies: int | None = None  #: None: by the size of the board
    seconds: float | None = None  #: a move
    patience: float = PATIENCE
    sprt: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if len(self.players) < 2:
            msg = f"{len(self.players)} player: a tournament takes two or more"
            raise ZermeloError(msg)
        if self.games < 1:
            msg = f"games is {self.games}: it must be 1 or more"
            raise ZermeloError(msg)
        if self.opening_plies is not None and not 0 <= self.opening_plies <= 100:
            msg = f"opening_plies is {self.opening_plies}: it can be 0 to 100"
            raise ZermeloError(msg)
        if self.sprt is not None and (len(self.players) != 2 or self.sprt[0] >= self.sprt[1]):
            msg = "a sequential test takes two players and two ratings, the lower first: 0,50"
            raise ZermeloError(msg)
        for spec in self.players:
            if is_player_file(spec):
                load_player_class(spec)  # made only where a crash does no harm
            else:
                load_player(spec).fit(self.rules)

    @cached_property
    def rules(self) -> Game:
        """The game itself."""
        return registry.game(self.game)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The players' names: their specs, told apart where they are equal."""
        names: list[str] = []
        for spec in self.players:
            twins = itertools.chain([spec], (f"{spec} ({n})" for n in itertools.count(2)))
            names.append(next(name for name in twins if name not in names))
        return tuple(names)

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Who meets whom, by number."""
        return tuple(itertools.combinations(range(len(self.players)), 2))

    @property
    def total(self) -> int:
        """How many games there are in all."""
        return self.games * len(self.pairs)

    @cached_property
    def is_drawn(self) -> tuple[bool, ...]:
        """Which players draw their moves: their games may be equal by chance."""
        return tuple(is_stochastic(spec) for spec in self.players)

    @cached_property
    def num_opening_plies(self) -> int:
        """How many plies an opening has."""
        if self.opening_plies is not None:
            return self.opening_plies
        grid = self.rules.grid
        return 0 if grid is None or grid.size <= _SMALL else _OPENING_PLIES

    def fixture(self, number: int) -> Fixture:
        """A game by its number."""
        index, pair = divmod(number, len(self.pairs))
        one, other = self.pairs[pair]
        seats = (other, one) if index % 2 else (one, other)
        return Fixture(number, pair, index // 2, seats)

    def spec(self, number: int, seat: int) -> str:
        """The player of a seat in a game, with a seed of its own where it takes one."""
        spec = self.players[self.fixture(number).seats[seat]]
        return with_seed(spec, derived(self.seed, number, seat))

    def opening(self, number: int) -> tuple[int, ...]:
        """The actions of an opening: random ones, one after the other, none of which ends the game.

        Fewer than asked for where every action ends it.
        """
        rng = random.Random(derived(self.seed, "opening", number))
        game, actions = self.rules, []
        state = game.initial()
        for _ in range(self.num_opening_plies):
            legal = game.actions(state)
            drawn = rng.sample(legal, len(legal))
            afters = ((action, game.play(state, action)) for action in drawn)
            found = next((pair for pair in afters if not game.result(pair[1])[0]), None)
            if found is None:
                break
            action, state = found
            actions.append(action)
        return tuple(actions)

    def to_json(self) -> dict[str, Any]:
        """What a run is known by: settings, the version, and what stands in the files it names."""
        own = [player_file_path(spec) for spec in self.players if is_player_file(spec)]
        own += [Path(self.game)] if files.is_game_file(self.game) else []
        own += [path for spec in self.players for path in model_files(spec)]
        digests = {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in own}
        settings = asdict(self) | {"opening_plies": self.num_opening_plies}
        return settings | {"version": __version__, "files": digests}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Plan":
        """The plan of such settings."""
        known = {field.name: data[field.name] for field in fields(cls)}
        sprt = known["sprt"]
        pair = None if sprt is None else (sprt[0], sprt[1])
        return cls(**known | {"players": tuple(known["players"]), "sprt": pair})


def derived(seed: int, *what: int | str) -> int:
    """A seed from a seed: the same everywhere, and unlike that of any other thing.

    >>> derived(0, 1, 0) == derived(0, 1, 0), derived(0, 1, 0) == derived(0, 1, 1)
    (True, False)
    """
    text = "/".join(map(str, (seed, *what)))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=6).digest(), "big")
