"""Monte Carlo tree search: a player that estimates by random games, or by an evaluator."""

import random
from collections.abc import Iterator
from dataclasses import replace

from zermelo.core.errors import BadSpec
from zermelo.core.game import Game
from zermelo.core.player import Analysis, Candidate, Limit, Player
from zermelo.core.position import Position
from zermelo.core.value import Value
from zermelo.search.limits import SearchClock, SearchStopped
from zermelo.search.mcts import evaluators
from zermelo.search.mcts.tree import Child, Evaluator, Tree

SIMS = 1000  #: where neither simulations nor seconds are given
ROLLOUT_C, EVALUATOR_C = 1.0, 1.5  #: how much uncertainty counts, unless the spec says
_BATCH, _MAX_BATCH = 16, 4096
_PAUSE = 0.1  # seconds between two answers


class MCTSPlayer(Player):
    """Simulates games in a tree that grows towards good moves; what it proves, it says."""

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
            msg = f"mcts: batch is {batch}: it can be 1 to {_MAX_BATCH}"
            raise BadSpec(msg)
        self.sims, self.seconds = sims, seconds
        self.c = c or (EVALUATOR_C if evaluator else ROLLOUT_C)
        self.evaluator, self.batch = evaluator, batch or _BATCH
        self.solver, self.reuse = solver, reuse
        self.seed = random.randrange(1 << 62) if seed is None else seed
        self.name = self._name(seed)
        self._tree: Tree | None = None
        self._judge: Evaluator | None = None
        self._judged: Game | None = None  # the game that it judges

    def _name(self, seed: int | None) -> str:
        given = {
            "sims": self.sims,
            "seconds": self.seconds,
            "c": None if self.c in (ROLLOUT_C, EVALUATOR_C) else self.c,
            "evaluator": self.evaluator or None,
            "solver": None if self.solver else "false",
            "reuse": None if self.reuse else "false",
            "seed": seed,
        }
        text = ",".join(f"{name}={value}" for name, value in given.items() if value is not None)
        return f"mcts:{text}" if text else "mcts"

    def reseed(self, seed: int) -> None:
        """The dice begin anew, with no tree; what judges the leaves stays."""
        self.seed, self._tree = seed, None

    def prepare(self, game: Game) -> None:
        """Get ready for a game; BadSpec, or what its evaluator says, where it cannot play it."""
        if self.evaluator and self._judged != game:
            self._judge, self._judged = evaluators.make(self.evaluator, game), game

    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        """An answer every tenth of a second, and one at the end."""
        seconds = min(filter(None, (self.seconds, limit.seconds)), default=None)
        number = min(filter(None, (self.sims, limit.nodes)), default=None)
        if number is None and seconds is None:
            number = SIMS
        tree = self._tree_for(position.game)  # which may have to be compiled
        clock = SearchClock(replace(limit, seconds=seconds))
        # An analysis judges every move: moves that could be left out elsewhere belong to it.
        if limit.all_moves or not self.reuse or not tree.move_to(position.state):
            tree.plant(position.state, all_moves=limit.all_moves)
        shown = 0.0
        try:
            for _ in tree.simulate(number, clock):
                if clock.seconds - shown > _PAUSE and tree.children():
                    shown = clock.seconds
                    yield _record(position, tree, clock, all_moves=limit.all_moves)
        except SearchStopped:
            pass
        yield _record(position, tree, clock, all_moves=limit.all_moves)

    def _tree_for(self, game: Game) -> Tree:
        """The tree of the last move, or a new one."""
        if self._tree is None or self._tree.game != game:
            self.prepare(game)
            self._tree = Tree(
                game,
                c=self.c,
                sure=self.solver,
                seed=self.seed,
                evaluator=self._judge,
                batch=self.batch if self._judge else 1,
            )
        return self._tree


def _record(position: Position, tree: Tree, clock: SearchClock, *, all_moves: bool) -> Analysis:
    # Whoever only wants a move does not wait for the lines behind the others.
    candidates = [
        _candidate(position, tree, child, whole=all_moves or rank == 0)
        for rank, child in enumerate(tree.children())
    ]
    is_lost = bool(candidates) and candidates[0].value is Value.LOSS and not tree.is_proven
    if all_moves or not candidates or is_lost:  # with few simulations some moves were not tried
        tried = {candidate.move for candidate in candidates}
        untried = [move for move in position.legal if move not in tried]
        candidates += [Candidate(move, estimate=0.0, visits=0, pv=(move,)) for move in untried]
        candidates.sort(key=lambda candidate: candidate.value is Value.LOSS)
    candidates[0] = replace(candidates[0], best=True)
    seconds = clock.seconds
    found = Analysis.from_candidates(candidates, nodes=clock.nodes, seconds=seconds, source="mcts")
    return found if tree.is_proven else found.as_lower_bound()


def _candidate(position: Position, tree: Tree, child: Child, *, whole: bool) -> Candidate:
    text = position.game.to_text
    line = tree.line(child.action) if whole else [child.action]
    proven = child.value is not None
    return Candidate(
        text(child.action),
        value=Value.from_score(child.value) if child.value is not None else None,
        estimate=None if proven else child.mean,
        exact=proven,
        visits=child.visits,
        pv=tuple(map(text, line)),
    )
