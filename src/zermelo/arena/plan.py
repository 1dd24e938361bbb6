"""The plan of a tournament: the number of a game determines its players, opening and seeds.

Game `number` of a tournament is game `number // pairs` of the pair `number % pairs`, so that the
games played so far are always balanced. Game i of a pair starts from opening i // 2, and its seats
are swapped if i is odd: every opening is played from both sides.
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
from zermelo.arena.processes.inspection import inspect_player_files
from zermelo.core.errors import ZermeloError
from zermelo.core.game import Game
from zermelo.core.notation import quote_text, show_value
from zermelo.core.player import Player
from zermelo.games import registry, user_games
from zermelo.players.registry import is_stochastic, load_player, model_files, with_seed
from zermelo.players.user_players import is_player_file, player_file_path

GRACE = 1.0  #: seconds by which a move may exceed its time limit
MEMORY = 4096  #: default memory limit of a process, in MB
_MIN_MEMORY = 512  # MB; loading the kernels of a player takes about 400
PATIENCE = 120.0  #: default number of seconds after which a player without a time limit forfeits
_SMALL = 16  # cells: games on boards up to this size start without an opening
_OPENING_PLIES = 2


class Fixture(NamedTuple):
    """One game to play."""

    number: int
    pair: int  #: index into `Plan.pairs`
    opening: int  #: number of the opening
    seats: tuple[int, int]  #: indices into `Plan.players`, first and second


@dataclass(frozen=True)
class Plan:
    """The settings that define the games of a tournament.

    Raise ZermeloError if a setting is not valid; `check_players` checks the game and the players.
    """

    game: str  #: the spec of the game
    players: tuple[str, ...]  #: player specs
    games: int = 100  #: number of games for each pair
    seed: int = 0
    opening_plies: int | None = None  #: if None, it depends on the size of the board
    seconds: float | None = None  #: time limit per move
    patience: float = PATIENCE  #: seconds after which a player without a time limit forfeits
    sprt: tuple[float, float] | None = None  #: Elo differences of the two hypotheses of an SPRT
    memory: int = MEMORY  #: memory limit of a process in MB, 0 for none

    def __post_init__(self) -> None:
        self._check_types()
        if len(self.players) < 2:
            msg = f"a tournament needs at least two players, not {len(self.players)}"
            raise ZermeloError(msg)
        if self.games < 1:
            msg = f"games is {self.games}: it must be at least 1"
            raise ZermeloError(msg)
        if self.opening_plies is not None and not 0 <= self.opening_plies <= 100:
            msg = f"opening_plies is {self.opening_plies}: it must be between 0 and 100"
            raise ZermeloError(msg)
        if self.sprt is not None and (len(self.players) != 2 or self.sprt[0] >= self.sprt[1]):
            msg = "a sequential test needs two players and two Elo differences, the lower one first"
            raise ZermeloError(msg)
        if self.memory and self.memory < _MIN_MEMORY:
            msg = f"memory is {self.memory}: it must be 0, for no limit, or at least {_MIN_MEMORY}"
            raise ZermeloError(msg)

    def _check_types(self) -> None:
        """Raise ZermeloError if a numeric setting has the wrong type."""
        for name in ("games", "seed", "memory", "opening_plies", "seconds", "patience"):
            value = getattr(self, name)
            is_optional = name in ("opening_plies", "seconds")
            kind = int | float if name in ("seconds", "patience") else int
            if not isinstance(value, kind) and not (value is None and is_optional):
                number = "a whole number" if kind is int else "a number"
                msg = f"{name} is {show_value(value)}: it must be {number}"
                raise ZermeloError(msg)

    def check_players(self) -> None:
        """Raise ZermeloError if a player cannot be loaded or cannot play the game.

        Player files are loaded in another process, because they could crash this one.
        """
        for spec in self.specs:
            try:
                spec.encode()
            except UnicodeEncodeError:
                msg = f"{quote_text(spec, 200)} is not valid Unicode"
                raise ZermeloError(msg) from None
        for player, is_file in enumerate(self.is_file):
            if not is_file:
                self.create_player(player).prepare(self.rules)
        self.is_stochastic  # noqa: B018 - loads the files
        self.rules  # noqa: B018 - loads the game

    @cached_property
    def rules(self) -> Game:
        """The game object for the spec in `game`."""
        return registry.game(self.game)

    @property
    def specs(self) -> tuple[str, ...]:
        """The specs of all players that have one."""
        return self.players

    @cached_property
    def is_file(self) -> tuple[bool, ...]:
        """For each player, whether its spec names a file."""
        return tuple(is_player_file(spec) for spec in self.players)

    def create_player(self, player: int, seed: int | None = None) -> Player:
        """Create the player with this index, with a seed if it takes one."""
        spec = self.players[player]
        return load_player(spec if seed is None else with_seed(spec, seed))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the players: their specs, with a number added to duplicates."""
        names: list[str] = []
        for spec in self.players:
            candidates = itertools.chain([spec], (f"{spec} ({n})" for n in itertools.count(2)))
            names.append(next(name for name in candidates if name not in names))
        return tuple(names)

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """All pairs of players."""
        return tuple(itertools.combinations(range(len(self.players)), 2))

    @property
    def total(self) -> int:
        """The number of games of the whole tournament."""
        return self.games * len(self.pairs)

    @cached_property
    def is_stochastic(self) -> tuple[bool, ...]:
        """For each player, whether it is stochastic and may therefore repeat a game by chance."""
        accepts_seed = inspect_player_files([spec for spec in self.specs if is_player_file(spec)])
        return tuple(
            accepts_seed[spec] if self.is_file[player] else self.is_stochastic_player(player)
            for player, spec in enumerate(self.players)
        )

    def is_stochastic_player(self, player: int) -> bool:
        """Return whether a player that does not come from a file is stochastic."""
        return is_stochastic(self.players[player])

    @cached_property
    def num_opening_plies(self) -> int:
        """The number of plies in an opening."""
        if self.opening_plies is not None:
            return self.opening_plies
        grid = self.rules.grid
        return 0 if grid is None or grid.size <= _SMALL else _OPENING_PLIES

    def fixture(self, number: int) -> Fixture:
        """Return the fixture with a given number."""
        index, pair = divmod(number, len(self.pairs))
        one, other = self.pairs[pair]
        seats = (other, one) if index % 2 else (one, other)
        return Fixture(number, pair, index // 2, seats)

    def player_seed(self, number: int, seat: int) -> int:
        """Return the seed of the player in a seat of a game."""
        return derive_seed(self.seed, number, seat)

    def sample_opening(self, number: int) -> tuple[int, ...]:
        """Return the actions of an opening: random legal actions that do not end the game.

        The opening is shorter than `num_opening_plies` if every next action would end the game.
        """
        rng = random.Random(derive_seed(self.seed, "opening", number))
        game, actions = self.rules, []
        state = game.initial()
        for _ in range(self.num_opening_plies):
            legal = game.actions(state)
            shuffled = rng.sample(legal, len(legal))
            successors = ((action, game.play(state, action)) for action in shuffled)
            chosen = next((pair for pair in successors if not game.result(pair[1])[0]), None)
            if chosen is None:
                break
            action, state = chosen
            actions.append(action)
        return tuple(actions)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that identify a run: settings, version and digests of Python files."""
        paths = [player_file_path(spec) for spec in self.specs if is_player_file(spec)]
        paths += [Path(self.game)] if user_games.is_game_file(self.game) else []
        paths += [path for spec in self.specs for path in model_files(spec)]
        digests = {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
        settings = asdict(self) | {"opening_plies": self.num_opening_plies}
        return settings | {"version": __version__, "files": digests}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Plan":
        """Return the plan with these settings."""
        settings = {field.name: data[field.name] for field in fields(cls)}
        sprt = settings["sprt"]
        hypotheses = None if sprt is None else (sprt[0], sprt[1])
        return cls(**settings | {"players": tuple(settings["players"]), "sprt": hypotheses})


def derive_seed(seed: int, *path: int | str) -> int:
    """Return a seed derived from a seed and a path of keys; it is the same on every machine.

    >>> derive_seed(0, 1, 0) == derive_seed(0, 1, 0), derive_seed(0, 1, 0) == derive_seed(0, 1, 1)
    (True, False)
    """
    text = "/".join(map(str, (seed, *path)))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=6).digest(), "big")
