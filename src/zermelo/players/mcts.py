"""The Monte Carlo tree search player, with random playouts or an evaluator."""

import random
from collections.abc import Iterator
from dataclasses import replace

from zermelo.core.errors import BadSpec
from zermelo.core.game import Game
from zermelo.core.player import Analysis, Candidate, Limit, Player
from zermelo.core.position import Position
from zermelo.core.value import Value
from zermelo.search.limits import SearchClock, SearchStopped
from zermelo.search.mcts.evaluators import load_evaluator
from zermelo.search.mcts.tree import Evaluator, MCTSTree, RootMove

SIMS = 1000  #: simulations per move if neither simulations nor seconds are given
ROLLOUT_C, EVALUATOR_C = 1.0, 1.5  #: the default exploration constants
_BATCH, _MAX_BATCH = 16, 4096
_REPORT_SECONDS = 0.1  # seconds between two analyses


class MCTSPlayer(Player):
    """Searches by Monte Carlo tree search; proven values are marked as exact."""

    is_heavy = True

    def __init__(
        self,
        sims: int | None = None,
        seconds: float | None = None,
        c: float | None = None,
        evaluator: str = "",
        batch: int | None = None,
        solver: bool = True,  # noqa: FBT002 - by name, from a spec
        reuse: bool = True,  # noqa: FBT002
        seed: int | None = None,
    ) -> None:
        if sims == 0:
            msg = "mcts: sims is 0: it must be 1 or more"
            raise BadSpec(msg)
        if batch is not None and not 1 <= batch <= _MAX_BATCH:
            msg = f"mcts: batch is {batch}: it must be 1 to {_MAX_BATCH}"
            raise BadSpec(msg)
        self.sims, self.seconds = sims, seconds
        self.c = c or (EVALUATOR_C if evaluator else ROLLOUT_C)
        self.evaluator, self.batch = evaluator, batch or _BATCH
        self.solver, self.reuse = solver, reuse
        self.seed = random.randrange(1 << 62) if seed is None else seed
        self.name = self._name(seed)
        self._tree: MCTSTree | None = None
        self._leaf_evaluator: Evaluator | None = None
        self._evaluator_game: Game | None = None

    def _name(self, seed: int | None) -> str:
        parameters = {
            "sims": self.sims,
            "seconds": self.seconds,
            "c": None if self.c in (ROLLOUT_C, EVALUATOR_C) else self.c,
            "evaluator": self.evaluator or None,
            "solver": None if self.solver else "false",
            "reuse": None if self.reuse else "false",
            "seed": seed,
        }
        text = ",".join(f"{key}={value}" for key, value in parameters.items() if value is not None)
        return f"mcts:{text}" if text else "mcts"

    def reseed(self, seed: int) -> None:
        """Set the seed and drop the tree; the evaluator is kept."""
        self.seed, self._tree = seed, None

    def prepare(self, game: Game) -> None:
        """Load the evaluator for a game; raise an error such as BadSpec if it cannot be loaded."""
        if self.evaluator and self._evaluator_game != game:
            self._leaf_evaluator = load_evaluator(self.evaluator, game)
            self._evaluator_game = game

    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        """Yield an analysis every tenth of a second, and one at the end."""
        seconds = min(filter(None, (self.seconds, limit.seconds)), default=None)
        simulations = min(filter(None, (self.sims, limit.nodes)), default=None)
        if simulations is None and seconds is None:
            simulations = SIMS
        tree = self._tree_for(position.game)  # may compile, which must not count as thinking time
        clock = SearchClock(replace(limit, seconds=seconds))
        # A reused tree may lack moves that are no better than others; `all_moves` needs every move.
        if limit.all_moves or not self.reuse or not tree.advance_to(position.state):
            tree.reset(position.state, all_moves=limit.all_moves)
        last_report = 0.0
        try:
            for _ in tree.simulate(simulations, clock):
                if clock.seconds - last_report > _REPORT_SECONDS and tree.root_moves():
                    last_report = clock.seconds
                    yield _analysis(position, tree, clock, all_moves=limit.all_moves)
        except SearchStopped:
            pass
        yield _analysis(position, tree, clock, all_moves=limit.all_moves)

    def _tree_for(self, game: Game) -> MCTSTree:
        """Return the tree used for the last move if the game is the same, else a new tree."""
        if self._tree is None or self._tree.game != game:
            self.prepare(game)
            self._tree = MCTSTree(
                game,
                c=self.c,
                use_solver=self.solver,
                seed=self.seed,
                evaluator=self._leaf_evaluator,
                batch=self.batch if self._leaf_evaluator else 1,
            )
            self._tree.warm_up()
        return self._tree


def _analysis(
    position: Position, tree: MCTSTree, clock: SearchClock, *, all_moves: bool
) -> Analysis:
    """Return the analysis so far; only with `all_moves` does every move have a line of play."""
    candidates = [
        _candidate(position, tree, move, with_line=all_moves or rank == 0)
        for rank, move in enumerate(tree.root_moves())
    ]
    is_lost = bool(candidates) and candidates[0].value == Value.LOSS and not tree.is_proven
    if all_moves or not candidates or is_lost:  # with few simulations, some moves have no visit
        visited = {candidate.move for candidate in candidates}
        unvisited = [move for move in position.legal if move not in visited]
        candidates += [Candidate(move, estimate=0.0, visits=0, pv=(move,)) for move in unvisited]
        candidates.sort(key=lambda candidate: candidate.value == Value.LOSS)
    candidates[0] = replace(candidates[0], best=True)
    analysis = Analysis.from_candidates(
        candidates, nodes=clock.nodes, seconds=clock.seconds, source="mcts"
    )
    return analysis if tree.is_proven else analysis.as_lower_bound()


def _candidate(position: Position, tree: MCTSTree, move: RootMove, *, with_line: bool) -> Candidate:
    line = tree.principal_variation(move.action) if with_line else [move.action]
    legal_line = position.game.legal_line(position.state, line)
    is_proven = move.value is not None
    return Candidate(
        position.to_move_text(move.action),
        value=None if move.value is None else Value.from_score(move.value),
        estimate=None if is_proven else move.mean,
        exact=is_proven,
        visits=move.visits,
        pv=position.game.line_to_text(position.state, legal_line),
    )
