"""The hybrid: alpha-beta with a learned value at its horizon. No torch."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from zermelo.core.errors import BadSpec
from zermelo.core.game import Game
from zermelo.core.player import Analysis, Candidate, Limit
from zermelo.core.position import Position
from zermelo.games.lines.small import WordLineGame
from zermelo.learn.hybrid.kernel_network import CACHE, UNIT, Valued, net_for, valued
from zermelo.learn.models.model import check_arrays, opened
from zermelo.learn.networks.weights_file import BadWeights
from zermelo.players.alphabeta import AlphaBetaPlayer
from zermelo.search.engines import WordEngine
from zermelo.search.negamax import arrays as a
from zermelo.search.negamax.searcher import LeafNetwork

_MOST = 0.99  # of an estimate: 1 is for what is proven
_WIDEST = 4096  # layer that a file may ask for


class HybridEngine(WordEngine):
    """The solver's kernel with a horizon, and a network there."""

    def __init__(self, hooks: Valued, net: LeafNetwork, *, ordering: bool = True) -> None:
        super().__init__(hooks, net, ordering=ordering)
        self.net = net

    @property
    def hit_rate(self) -> float:
        """The share of all estimates so far that the cache held."""
        asked, found = (int(self._searcher.control[at]) for at in (a.NETWORK_LOOKUPS, a.CACHE_HITS))
        return found / max(1, asked)

    def to_estimate(self, score: int) -> float:
        """Scores are the network's own unit."""
        return round(max(-_MOST, min(_MOST, score / UNIT)), 4)

    def parts(self, state: Any) -> dict[str, float]:
        """What an estimate of a state is made of, seen by the side to move."""
        hooks, net = self.hooks, self.net
        learned = int(hooks.evaluate_network(state, net.weights, net.layers))
        heuristic = int(hooks.evaluate(state))
        blend = (net.blend[0] * learned + net.blend[1] * heuristic) // 1000
        return {
            "network": self.to_estimate(learned),
            "heuristic": super().to_estimate(heuristic),
            "blend": self.to_estimate(blend),
        }


class HybridPlayer(AlphaBetaPlayer):
    """Looks ahead, and asks what was learned where it stops.

    Without a run it takes the model that is shipped for the game; without a depth or a blend,
    those that the model was made for. With `seconds` it goes deeper as long as there is time, up
    to a depth only if one is given.
    """

    def __init__(
        self,
        run: str = "",
        depth: int | None = None,
        seconds: float | None = None,
        blend: float | None = None,
    ) -> None:
        if depth is not None and depth < 1:
            msg = f"depth is {depth}: it must be 1 or more"
            raise BadSpec(msg)
        if seconds is not None and seconds <= 0:
            msg = f"seconds is {seconds:g}: it must be above 0"
            raise BadSpec(msg)
        if blend is not None and not 0 <= blend <= 1:
            msg = f"blend is {blend:g}: it must be from 0, the heuristic alone, to 1"
            raise BadSpec(msg)
        given = {"depth": depth, "seconds": seconds, "blend": blend}
        said = [f"{name}={value:g}" for name, value in given.items() if value is not None]
        words = [run] * bool(run) + said
        super().__init__(f"hybrid:{','.join(words)}" if words else "hybrid", depth, seconds)
        self.run, self.blend, self._asked = run, blend, depth

    def prepare(self, game: Game) -> HybridEngine:
        """Its engine for a game; BadWeights where it has none."""
        if not isinstance(self._engine, HybridEngine) or self._game != game:
            self._engine, depth = hybrid_engine(self.run, game, self.blend)
            self._game = game
            self.depth = depth if self._asked is None and self.seconds is None else self._asked
        assert isinstance(self._engine, HybridEngine)
        return self._engine

    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        """A record a depth; where every move is judged, with what the estimates are made of."""
        engine = self.prepare(position.game)
        for found in super().think(position, limit):
            yield _with_parts(found, position, engine) if limit.all_moves else found


def _with_parts(found: Analysis, position: Position, engine: HybridEngine) -> Analysis:
    """Seen by the side to move now."""
    candidates: list[Candidate] = []
    for candidate in found.candidates:
        after = position.play(candidate.move)
        parts = None if after.is_over else engine.parts(after.state)
        seen = parts and {name: -value for name, value in parts.items()}
        candidates.append(replace(candidate, parts=seen))
    return replace(found, candidates=tuple(candidates), source="hybrid")


def hybrid_engine(
    run: str, game: Game, blend: float | None = None, cache: int = CACHE
) -> tuple[HybridEngine, int]:
    """(the engine, the depth it was made for)."""
    path, arrays, said = opened(run, game, "hybrid")
    shape = said["shape"]
    hidden, depth, shares = (shape.get(name) for name in ("hidden", "depth", "shares"))
    widths = isinstance(hidden, list) and len(hidden) == 2
    if not widths or not all(type(w) is int and 0 < w <= _WIDEST for w in hidden):
        msg = f"{path}: hidden of the network is {hidden!r}: it must be two widths"
        raise BadWeights(msg)
    if type(depth) is not int or depth < 1 or not _are_shares(shares):
        msg = f"{path}: it does not say how deep and with which blend it plays"
        raise BadWeights(msg)
    assert isinstance(game, WordLineGame)
    hooks = valued(game, shape["kind"], tuple(hidden), published=bool(shape.get("published")))
    check_arrays(path, arrays, dict(hooks.sizes))
    network, heuristic = shares if blend is None else (blend, 1 - blend)
    net = net_for(hooks, arrays, (round(1000 * network), round(1000 * heuristic)), cache)
    return HybridEngine(hooks, net), depth


def _are_shares(shares: Any) -> bool:
    return (
        isinstance(shares, list)
        and len(shares) == 2
        and all(isinstance(share, int | float) and 0 <= share <= 1 for share in shares)
    )
