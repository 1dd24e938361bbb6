"""A player's policy: its action in every state, independent of the order of the queries.

The random generator of a stochastic player is reseeded in every state, with a seed derived from
the seed of the grading, the player and the state.
"""

import hashlib
from typing import Any

from zermelo.core.game import Game
from zermelo.core.player import Player
from zermelo.core.position import Position
from zermelo.games import user_code
from zermelo.players.registry import PlayerLike, accepts_seed, as_player, load_player, with_seed

_MAX_CACHED = 200_000  # actions; several steps of grading ask for the same states


class PlayerPolicy:
    """The actions of one player in one game, by state."""

    def __init__(self, game: Game, player: PlayerLike, seed: int = 0) -> None:
        self.game, self.seed = game, seed
        self._spec = player if isinstance(player, str) else None
        self._player = as_player(player)
        self.name = player if isinstance(player, str) else self._player.name
        self._needs_new_player = self._spec is not None and _lacks_reseed(self._spec, self._player)
        self._cache: dict[Any, int] = {}

    def __getitem__(self, state: Any) -> int:
        """Return the player's action in a non-terminal state."""
        action = self._cache.get(state)
        if action is None:
            action = self._choose(state)
            if len(self._cache) < _MAX_CACHED:
                self._cache[state] = action
        return action

    def _choose(self, state: Any) -> int:
        digest = hashlib.sha256(f"{self.seed} {self.name} {state!r}".encode()).digest()
        seed = int.from_bytes(digest[:6])
        if self._needs_new_player:
            assert self._spec is not None
            self._player = load_player(with_seed(self._spec, seed))
        else:
            self._player.reseed(seed)
        position = Position(self.game, state, None)
        with user_code.forbid_exit(self.name):
            move = self._player.choose(position).move
        return position.parse(move)


def _lacks_reseed(spec: str, player: Player) -> bool:
    """Return whether a stochastic player does not implement `reseed`."""
    is_stochastic = accepts_seed(spec) or "seed=" in spec
    return is_stochastic and type(player).reseed is Player.reseed
