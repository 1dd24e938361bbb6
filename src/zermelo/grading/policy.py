"""Choices: what a player does in every state, one answer each.

A player with dice is graded as it stands: its dice begin anew in every state, from a seed made of
the grade's, the player and the state. So an answer does not depend on what was asked before.
"""

import hashlib
from typing import Any

from zermelo.core.game import Game
from zermelo.core.player import Player
from zermelo.core.position import Position
from zermelo.players import registry as roster

_MOST_KEPT = 200_000  # answers; grading, unbeatable and chances ask for the same ones


class Choices:
    """The actions of one player in one game, by state."""

    def __init__(self, game: Game, player: str | Player, seed: int = 0) -> None:
        self.game, self.seed = game, seed
        self._spec = player if isinstance(player, str) else None
        self._player = roster.player(player) if isinstance(player, str) else player
        self.name = player if isinstance(player, str) else player.name
        self._is_remade = self._spec is not None and _needs_remaking(self._spec, self._player)
        self._known: dict[Any, int] = {}

    def __getitem__(self, state: Any) -> int:
        """The action in a state that is not over."""
        action = self._known.get(state)
        if action is None:
            action = self._ask(state)
            if len(self._known) < _MOST_KEPT:
                self._known[state] = action
        return action

    def _ask(self, state: Any) -> int:
        digest = hashlib.sha256(f"{self.seed} {self.name} {state!r}".encode()).digest()
        seed = int.from_bytes(digest[:6])
        if self._is_remade:
            assert self._spec is not None
            self._player = roster.player(roster.seeded(self._spec, seed))
        else:
            self._player.reseed(seed)
        position = Position(self.game, state, None)
        return position.parse(self._player.choose(position).move)


def _needs_remaking(spec: str, player: Player) -> bool:
    """Whether it has dice but cannot begin anew: then every state meets a new player."""
    has_dice = roster.takes_seed(spec) or "seed=" in spec
    return has_dice and type(player).reseed is Player.reseed
