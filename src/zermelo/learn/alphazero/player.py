"""AlphaZero's player: a tree search by what was learned, or the learned policy alone. No torch."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from zermelo.core.errors import BadSpec
from zermelo.core.game import Game, WordGame
from zermelo.core.player import Analysis, Candidate, Limit, Player
from zermelo.core.position import Position
from zermelo.core.value import Value
from zermelo.learn.alphazero.network_files import MOST, read
from zermelo.learn.alphazero.search_cpu import KernelSearch
from zermelo.learn.alphazero.search_options import NEVER, UNKNOWN, Found
from zermelo.learn.networks.numpy_inference import planes_of
from zermelo.learn.networks.symmetry_average import Judge
from zermelo.search.limits import SearchClock

_LESS = 0.99  # of an estimate: 1 is for what is proven


class AlphaZeroPlayer(Player):
    """Searches with what was learned; what it proves on the way, it says.

    Without a run it takes the model that is shipped for the game, without `sims` as many
    simulations as the model was made for; with none it plays the policy's best move.
    """

    def __init__(self, run: str = "", sims: int | None = None) -> None:
        if sims is not None and not 0 <= sims <= MOST:
            msg = f"sims is {sims}: it can be 0, the policy alone, to {MOST:,}"
            raise BadSpec(msg)
        self.run, self.sims = run, sims
        words = [*([run] if run else []), *([f"sims={sims}"] if sims is not None else [])]
        self.name = f"alphazero:{','.join(words)}" if words else "alphazero"
        self._game: Game | None = None
        self._net: Judge | None = None
        self._search: KernelSearch | None = None

    def prepare(self, game: Game) -> Judge:
        """Its network for a game; BadWeights where it has none."""
        if self._net is None or self._game != game:
            self._net, simulations, considered = read(self.run, game)
            number = simulations if self.sims is None else self.sims
            assert isinstance(game, WordGame)
            self._search = None
            if number:
                self._search = KernelSearch(game, self._net, 1, number, considered=considered)
            self._game = game
        return self._net

    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        """One answer."""
        net = self.prepare(position.game)
        clock = SearchClock(limit)
        states = np.array([position.state], np.uint64)
        is_proven = False
        if self._search is None:
            candidates = _by_policy(position, net, states)
        else:
            found = self._search(states, clock=clock)
            candidates, is_proven = _by_search(position, found), found.proven[0] != UNKNOWN
        told = Analysis.from_candidates(
            candidates, nodes=max(1, clock.nodes), seconds=clock.seconds, source="alphazero"
        )
        yield told if is_proven else told.as_lower_bound()


def _by_search(position: Position, found: Found) -> list[Candidate]:
    """The move first, then by visits; what a look at the board excluded comes last."""
    best = int(found.actions[0])
    visits, worths, known = found.visits[0], found.worths[0], found.known[0]
    policy = found.policy[0]
    ranked = sorted(position.actions, key=lambda a: (a != best, -visits[a], -policy[a]))
    text = position.game.to_text
    return [
        Candidate(
            move := text(action),
            value=None if known[action] == UNKNOWN else Value.from_score(known[action]),
            estimate=None if known[action] != UNKNOWN else _estimate(worths[action]),
            exact=bool(known[action] != UNKNOWN),
            best=action == best,
            visits=int(visits[action]),
            pv=(move,),
        )
        for action in ranked
    ]


def _by_policy(position: Position, net: Judge, states: Any) -> list[Candidate]:
    """The most likely first; the state's value is that of the best."""
    game = position.game
    logits, values = net(planes_of(game, states))
    likely = np.full(game.num_actions, NEVER)
    likely[position.actions] = logits[0, position.actions]
    best = int(likely.argmax())
    ranked = sorted(position.actions, key=lambda action: -likely[action])
    return [
        Candidate(
            move := game.to_text(action),
            estimate=_estimate(values[0] + likely[action] - likely[best]),
            best=action == best,
            pv=(move,),
        )
        for action in ranked
    ]


def _estimate(worth: Any) -> float:
    return round(float(np.clip(worth, -_LESS, _LESS)), 4)
