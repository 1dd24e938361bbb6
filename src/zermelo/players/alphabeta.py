"""The alpha-beta players: one searches to a fixed depth, the other as deep as time allows."""

from collections.abc import Iterator
from dataclasses import replace

from zermelo.core.errors import BadSpec
from zermelo.core.game import Game
from zermelo.core.player import Analysis, Limit, Player
from zermelo.core.position import Position
from zermelo.games.lines.published import PublishedTactics
from zermelo.games.lines.small import WordLineGame
from zermelo.search.candidates import candidates_from_iteration
from zermelo.search.engine import Engine
from zermelo.search.engines import WordEngine, engine_for
from zermelo.search.iterative_deepening import deepen
from zermelo.search.limits import SearchClock

_FITTED, _PUBLISHED = "fitted", "published"


class AlphaBetaPlayer(Player):
    """Searches to a fixed depth or for a given time; proven values are marked as exact."""

    def __init__(
        self, name: str, depth: int | None, seconds: float | None, heuristic: str = _FITTED
    ) -> None:
        self.name, self.depth, self.seconds, self.heuristic = name, depth, seconds, heuristic
        self._engine: Engine | None = None
        self._game: Game | None = None

    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        """Yield an analysis after every completed depth, and one at the end."""
        engine = self.prepare(position.game)
        seconds = min(filter(None, (self.seconds, limit.seconds)), default=None)
        clock = SearchClock(replace(limit, seconds=seconds))
        max_depth = min(filter(None, (self.depth, limit.depth)), default=None)
        for iteration in deepen(
            engine, position.state, clock, max_depth=max_depth, all_moves=limit.all_moves
        ):
            analysis = Analysis.from_candidates(
                candidates_from_iteration(
                    engine, position.state, iteration, all_moves=limit.all_moves
                ),
                nodes=clock.nodes,
                seconds=clock.seconds,
                depth=iteration.depth,
            )
            yield analysis
        # Include the nodes and the time of the last iteration, which was not finished.
        yield replace(analysis, nodes=clock.nodes, seconds=clock.seconds)

    def choose_action(self, position: Position) -> int:
        """Return the action that `choose` would return, without finding a principal variation."""
        engine, clock = self.prepare(position.game), SearchClock(Limit(seconds=self.seconds))
        iterations = deepen(engine, position.state, clock, max_depth=self.depth, with_lines=False)
        *_, last = iterations
        return last.best

    def reseed(self, seed: int) -> None:
        """Clear the transposition table, which influences searches limited by time or nodes."""
        del seed
        if self._engine is not None:
            self._engine.clear()

    def prepare(self, game: Game) -> Engine:
        """Return the engine for a game; it is kept until the game changes."""
        if self._engine is None or self._game != game:
            self._game = game
            self._engine = engine_for(game) if self.heuristic == _FITTED else self._published(game)
        return self._engine

    def _published(self, game: Game) -> Engine:
        """Return an engine with Squava's published heuristic."""
        if not isinstance(game, WordLineGame) or game.spec != "squava":
            msg = f"heuristic={self.heuristic} works only for squava, not for {game.spec}"
            raise BadSpec(msg)
        has_centre = self.heuristic == _PUBLISHED
        return WordEngine(
            PublishedTactics(game) if has_centre else PublishedTactics(game, centre=0)
        )


def minimax(depth: int, heuristic: str = _FITTED, seed: int | None = None) -> AlphaBetaPlayer:
    """Create a player that searches to a fixed depth. It is deterministic: the seed is ignored."""
    del seed
    if depth < 1:
        msg = f"depth is {depth}: it must be 1 or more"
        raise BadSpec(msg)
    suffix = "" if heuristic == _FITTED else f",heuristic={heuristic}"
    return AlphaBetaPlayer(f"minimax:depth={depth}{suffix}", depth, None, heuristic)


def alphabeta(seconds: float, seed: int | None = None) -> AlphaBetaPlayer:
    """Create a player that searches as deep as the time allows; the seed is ignored."""
    del seed
    return AlphaBetaPlayer(f"alphabeta:seconds={seconds:g}", None, seconds)
