"""The hybrid player: alpha-beta with a value network at its leaves. It does not need torch."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from zermelo.core.errors import BadSpec
from zermelo.core.game import Game
from zermelo.core.player import Analysis, Candidate, Limit
from zermelo.core.position import Position
from zermelo.learn.hybrid.kernel_network import (
    CACHE_SIZE,
    VALUE_SCALE,
    NetworkTactics,
    build_leaf_network,
)
from zermelo.learn.hybrid.value_model import load_value_model
from zermelo.players.alphabeta import AlphaBetaPlayer
from zermelo.search.engines import WordEngine
from zermelo.search.negamax import arrays
from zermelo.search.negamax.searcher import LeafNetwork

_MAX_ESTIMATE = 0.99  # the values 1 and -1 are reserved for proven results


class HybridEngine(WordEngine):
    """The negamax kernel with a depth limit and a network at the leaves."""

    def __init__(self, hooks: NetworkTactics, net: LeafNetwork, *, ordering: bool = True) -> None:
        super().__init__(hooks, net, ordering=ordering)
        self.net = net

    @property
    def hit_rate(self) -> float:
        """The share of estimates so far that came from the cache."""
        control = self._searcher.control
        return int(control[arrays.CACHE_HITS]) / max(1, int(control[arrays.NETWORK_LOOKUPS]))

    def to_estimate(self, score: int) -> float:
        """Convert a search score to a value between -1 and 1, on the network's scale."""
        return round(max(-_MAX_ESTIMATE, min(_MAX_ESTIMATE, score / VALUE_SCALE)), 4)

    def split_estimate(self, state: Any) -> dict[str, float]:
        """Return the estimates of a state by network, heuristic and blend, for the side to move."""
        hooks, net = self.hooks, self.net
        value = int(hooks.evaluate_network(state, net.weights, net.layers))
        heuristic = int(hooks.evaluate(state))
        blend = (net.blend[0] * value + net.blend[1] * heuristic) // 1000
        return {
            "network": self.to_estimate(value),
            "heuristic": super().to_estimate(heuristic),
            "blend": self.to_estimate(blend),
        }


class HybridPlayer(AlphaBetaPlayer):
    """Searches with alpha-beta and evaluates the leaves with a value network.

    Without a run, it uses the model that is shipped for the game. The default depth and blend are
    those in the model's file. With `seconds`, it searches by iterative deepening until the time is
    up, or up to `depth` if that is given.
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
            msg = f"blend is {blend:g}: it must be from 0 (heuristic only) to 1 (network only)"
            raise BadSpec(msg)
        options = {"depth": depth, "seconds": seconds, "blend": blend}
        parts = [f"{name}={value:g}" for name, value in options.items() if value is not None]
        parts = [run] * bool(run) + parts
        super().__init__(f"hybrid:{','.join(parts)}" if parts else "hybrid", depth, seconds)
        self.run, self.blend, self._depth_option = run, blend, depth

    def prepare(self, game: Game) -> HybridEngine:
        """Return the engine for a game; raise BadWeights if the run does not fit the game."""
        if not isinstance(self._engine, HybridEngine) or self._game != game:
            self._engine, depth = load_hybrid_engine(self.run, game, self.blend)
            self._game = game
            has_limit = self._depth_option is not None or self.seconds is not None
            self.depth = self._depth_option if has_limit else depth
        assert isinstance(self._engine, HybridEngine)
        return self._engine

    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        """Yield an analysis for each depth; `limit.all_moves` adds the parts of each estimate."""
        engine = self.prepare(position.game)
        for analysis in super().think(position, limit):
            yield _with_parts(analysis, position, engine) if limit.all_moves else analysis


def _with_parts(analysis: Analysis, position: Position, engine: HybridEngine) -> Analysis:
    """Add to each move its estimates by network and by heuristic, for the side that moves."""
    candidates: list[Candidate] = []
    for candidate in analysis.candidates:
        after = position.play(candidate.move)
        parts = None if after.is_over else engine.split_estimate(after.state)
        own_parts = parts and {name: -value for name, value in parts.items()}
        candidates.append(replace(candidate, parts=own_parts))
    return replace(analysis, candidates=tuple(candidates), source="hybrid")


def load_hybrid_engine(
    run: str, game: Game, blend: float | None = None, cache_size: int = CACHE_SIZE
) -> tuple[HybridEngine, int]:
    """Return an engine with the network of a run, and the search depth from the run's file."""
    model = load_value_model(run, game)
    network, heuristic = model.shares if blend is None else (blend, 1 - blend)
    thousandths = round(1000 * network), round(1000 * heuristic)
    net = build_leaf_network(model.hooks, model.arrays, thousandths, cache_size)
    return HybridEngine(model.hooks, net), model.depth
