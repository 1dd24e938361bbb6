"""The heuristic players: alpha-beta to a depth, or deepening as long as there is time."""

from collections.abc import Iterator
from dataclasses import replace

from zermelo.core.bitboard import sign
from zermelo.core.errors import BadSpec
from zermelo.core.game import Game
from zermelo.core.player import Analysis, Candidate, Limit, Player
from zermelo.core.position import Position
from zermelo.search.engine import Engine
from zermelo.search.engines import engine_for
from zermelo.search.iterative_deepening import Iteration, deepen, is_settled
from zermelo.search.limits import SearchClock


class AlphaBetaPlayer(Player):
    """Looks ahead and estimates what lies beyond; proven wins and losses are told as such."""

    def __init__(
        self, name: str, depth: int | None, seconds: float | None, heuristic: str = "fitted"
    ) -> None:
        self.name, self.depth, self.seconds, self.heuristic = name, depth, seconds, heuristic
        self._engine: Engine | None = None
        self._game: Game | None = None

    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        """A record a depth."""
        engine = self._engine_for(position.game)
        seconds = min(filter(None, (self.seconds, limit.seconds)), default=None)
        clock = SearchClock(replace(limit, seconds=seconds))
        depth = min(filter(None, (self.depth, limit.depth)), default=None)
        for found in deepen(engine, position.state, clock, max_depth=depth, all_moves=limit.every):
            last = _record(position, engine, found, clock, every=limit.every)
            yield last
        # What the depth that was not finished took counts too.
        yield replace(last, nodes=clock.nodes, seconds=clock.seconds)

    def reseed(self, seed: int) -> None:
        """Without dice, but a search ended by time or nodes goes by what was seen before."""
        del seed
        if self._engine is not None:
            self._engine.clear()

    def _engine_for(self, game: Game) -> Engine:
        if self._engine is None or self._game != game:
            self._game = game
            played = game
            if self.heuristic != "fitted":
                from zermelo.games.lines.published import PublishedSquava

                if game.spec != "squava":
                    msg = f"heuristic={self.heuristic} is for squava, not for {game.spec}"
                    raise BadSpec(msg)
                is_whole = self.heuristic == "published"
                played = PublishedSquava() if is_whole else PublishedSquava(centre=0)
            self._engine = engine_for(played)
        return self._engine


def minimax(depth: int, heuristic: str = "fitted", seed: int | None = None) -> AlphaBetaPlayer:
    """To a fixed depth. The seed changes nothing: it always plays the same."""
    del seed
    if depth < 1:
        msg = f"depth is {depth}: it must be 1 or more"
        raise BadSpec(msg)
    more = "" if heuristic == "fitted" else f",heuristic={heuristic}"
    return AlphaBetaPlayer(f"minimax:depth={depth}{more}", depth, None, heuristic)


def alphabeta(seconds: float, seed: int | None = None) -> AlphaBetaPlayer:
    """As deep as the time allows."""
    del seed
    return AlphaBetaPlayer(f"alphabeta:seconds={seconds:g}", None, seconds)


def _record(
    position: Position, engine: Engine, found: Iteration, clock: SearchClock, *, every: bool
) -> Analysis:
    """One depth as an analysis; without `every` the other moves have bounds only: left out."""
    moves = found.scores if every else {found.best: found.score}
    candidates = [_candidate(position, engine, found, action) for action in moves]
    return Analysis.led_by(candidates, nodes=clock.nodes, seconds=clock.seconds, depth=found.depth)


def _candidate(position: Position, engine: Engine, found: Iteration, action: int) -> Candidate:
    score = found.scores[action]
    exact = found.exact or is_settled(engine, score, found.depth)
    text = position.game.to_text
    return Candidate(
        text(action),
        value={1: "win", 0: "draw", -1: "loss"}[sign(score)] if exact else None,
        estimate=None if exact else engine.to_estimate(score),
        plies=engine.plies_to_end(score) if exact else None,
        exact=exact,
        best=score == found.score,
        pv=tuple(map(text, found.lines[action])),
        diff=score if exact and not engine.ply_cost else None,
    )
