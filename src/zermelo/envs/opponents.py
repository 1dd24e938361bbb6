"""The opponents of environments: `random` and `greedy` reply inside kernels, all others outside.

The replies of both kinds come from the same random numbers: one step of splitmix64 for each reply.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zermelo.core.bitboard import mix, scale, word
from zermelo.core.errors import ZermeloError
from zermelo.core.game import Game, MaskGame
from zermelo.core.game.traversal import STRIDE
from zermelo.core.player import Player
from zermelo.core.position import Position
from zermelo.core.specs import split_spec
from zermelo.games.lines.rules import LineGame
from zermelo.games.reversi.rules import Reversi
from zermelo.players import greedy
from zermelo.players.greedy import GreedyPlayer, rank_move
from zermelo.players.random import RandomPlayer
from zermelo.players.registry import PlayerLike, as_player

# How the opponent replies: not at all (self-play), by a rule that kernels know, or as a player.
NO_OPPONENT, RANDOM, GREEDY, PLAYER = range(4)
_KINDS: dict[type[Player], int] = {RandomPlayer: RANDOM, GreedyPlayer: GREEDY}


@dataclass(frozen=True)
class Opponent:
    """An opponent, and the seed that its spec sets."""

    kind: int
    player: Player | None = None
    seed: int | None = None  #: overrides the seed of the environment


def create_opponent(opponent: PlayerLike | None) -> Opponent:
    """Return an opponent from a player, its spec or a function; None is for self-play.

    Raise BadSpec if the argument is none of these.
    """
    if opponent is None:
        return Opponent(NO_OPPONENT)
    player = as_player(opponent)
    kind = _KINDS.get(type(player), PLAYER)
    spec = opponent if isinstance(opponent, str) else player.name if kind != PLAYER else ""
    seed = split_spec(spec)[2].get("seed")
    return Opponent(kind, player, None if seed is None else int(seed))


def first_random_words(opponent: Opponent, seeds: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the first states of the random generators with these seeds, [env].

    If the opponent's spec sets a seed, game i has this seed plus i.
    """
    if opponent.seed is not None:
        seeds = np.arange(len(seeds), dtype=np.uint64) + np.uint64(opponent.seed)
    words: NDArray[np.uint64] = mix(seeds + np.uint64(1))  # type: ignore[arg-type,assignment]
    return words


def choose_reply(opponent: Opponent, position: Position, rng: int) -> tuple[int, int]:
    """Return the opponent's action and the next state of the random generator."""
    assert opponent.player is not None
    if opponent.kind == PLAYER:
        return opponent.player.choose_action(position), rng
    actions = position.actions
    if opponent.kind == GREEDY:
        ranks = {action: rank_move(position, action) for action in actions}
        best = max(ranks.values())
        actions = [action for action, rank in ranks.items() if rank == best]
    rng = word(rng + STRIDE)
    return actions[scale(mix(rng), len(actions))], rng


class GreedyTables(NamedTuple):
    """What the greedy player needs to know about a game, for kernels."""

    lines: Any  #: uint64 [line]: the winning lines, as masks; empty for games without lines
    distances: Any  #: int64 [action]: twice the distance of the action's cell from the centre
    counts_discs: bool  #: whether a move is ranked by the difference of the numbers of discs

    @classmethod
    def of_game(cls, game: Game) -> "GreedyTables":
        """Return the tables of a game in which `has_fixed_cells` holds."""
        lines = greedy.winning_lines(game) if isinstance(game, LineGame) else ()
        cells = action_cells(game)
        distances = [2 * greedy.distance_from_centre(game, cell) for cell in cells]
        return cls(
            np.array(lines, np.uint64), np.array(distances, np.int64), isinstance(game, Reversi)
        )


def has_fixed_cells(game: Game) -> bool:
    """Return whether an action always fills the same cell, or with gravity the same column."""
    return type(game).move_cells in (Game.move_cells, MaskGame.move_cells, LineGame.move_cells)


def action_cells(game: Game) -> list[int | None]:
    """Return the cell that each action fills, or with gravity the top cell of its column."""
    assert game.grid is not None
    size = game.num_actions if game.gravity else game.grid.size
    return [action if action < size else None for action in range(game.num_actions)]


def check_seat(seat: Any, opponent: Opponent, game: Game) -> None:
    """Raise ZermeloError if the agent cannot have this seat."""
    if isinstance(seat, bool) or seat not in (0, 1, "both"):
        msg = f"seat is {seat!r}: it must be 0 (first), 1 (second) or 'both' (by turns)"
        raise ZermeloError(msg)
    if opponent.kind == NO_OPPONENT and seat != 0:
        msg = f"seat is {seat!r}, but without an opponent the agent plays both sides: omit it"
        raise ZermeloError(msg)
    if seat != 0 and any(
        game.result(game.play(s, a))[0] for s in [game.initial()] for a in game.actions(s)
    ):
        msg = f"seat is {seat!r}, but the first move can end {game.spec}: it must be 0"
        raise ZermeloError(msg)
