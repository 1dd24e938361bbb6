"""AlphaZero's player, which searches with a policy-value network.

It does not need torch, unless the network is custom.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from zermelo.core.errors import BadSpec
from zermelo.core.game import Game, WordGame
from zermelo.core.player import Analysis, Candidate, Limit, Player
from zermelo.core.position import Position
from zermelo.core.value import Value
from zermelo.learn.alphazero.model_file import MAX_SIMULATIONS, load_policy_value_model
from zermelo.learn.alphazero.search_cpu import KernelSearch
from zermelo.learn.alphazero.search_parameters import (
    ILLEGAL_LOGIT,
    UNPROVEN,
    PolicySearchResult,
)
from zermelo.learn.batch.custom_encoder import CustomEncoder
from zermelo.learn.networks.evaluation import PolicyValueFunction
from zermelo.learn.networks.numpy_inference import encode_planes
from zermelo.search.limits import SearchClock

_MAX_ESTIMATE = 0.99  # the values 1 and -1 are reserved for proven results


class AlphaZeroPlayer(Player):
    """Searches with a policy-value network, and reports the values that the search proves.

    Without a run, it uses the model that is shipped for the game. The default number of simulations
    (`sims`) comes from the model's file. With `sims=0`, it does not search, but plays the move with
    the highest policy probability.
    """

    def __init__(self, run: str = "", sims: int | None = None) -> None:
        if sims is not None and not 0 <= sims <= MAX_SIMULATIONS:
            msg = f"sims is {sims}: it must be from 0 (the policy alone) to {MAX_SIMULATIONS:,}"
            raise BadSpec(msg)
        self.run, self.sims = run, sims
        parts = [*([run] if run else []), *([f"sims={sims}"] if sims is not None else [])]
        self.name = f"alphazero:{','.join(parts)}" if parts else "alphazero"
        self._game: Game | None = None
        self._evaluate: PolicyValueFunction | None = None
        self._search: KernelSearch | None = None
        self._encoder: CustomEncoder | None = None

    def prepare(self, game: Game) -> PolicyValueFunction:
        """Return the network for a game; raise BadWeights if the run does not fit the game."""
        if self._evaluate is None or self._game != game:
            model = load_policy_value_model(self.run, game)
            self._evaluate = model.evaluate
            simulations = model.simulations if self.sims is None else self.sims
            assert isinstance(game, WordGame)
            self._search, self._encoder = None, model.encoder
            if simulations:
                self._search = KernelSearch(
                    game,
                    model.evaluate,
                    1,
                    simulations,
                    considered=model.considered,
                    encoder=model.encoder,
                )
            self._game = game
        return self._evaluate

    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        """Search the position, or only evaluate it if `sims` is 0, and yield one analysis."""
        evaluate = self.prepare(position.game)
        clock = SearchClock(limit)
        states = np.array([position.state], np.uint64)
        is_proven = False
        if self._search is None:
            game, encoder = position.game, self._encoder
            assert isinstance(game, WordGame)
            inputs = encode_planes(game, states) if encoder is None else encoder(states)
            candidates = _candidates_by_policy(position, *evaluate(inputs))
        else:
            result = self._search(states, clock=clock)
            candidates = _candidates_by_search(position, result)
            is_proven = result.proven_value[0] != UNPROVEN
        analysis = Analysis.from_candidates(
            candidates, nodes=max(1, clock.nodes), seconds=clock.seconds, source="alphazero"
        )
        yield analysis if is_proven else analysis.as_lower_bound()


def _candidates_by_search(position: Position, result: PolicySearchResult) -> list[Candidate]:
    """Return the move to play, then the other moves, sorted by visits and then by probability."""
    best = int(result.actions[0])
    visits, q, proven_q = result.visits[0], result.q[0], result.proven_q[0]
    policy = result.policy[0]
    ranked = sorted(position.actions, key=lambda a: (a != best, -visits[a], -policy[a]))
    return [
        Candidate(
            move := position.to_move_text(action),
            value=None if proven_q[action] == UNPROVEN else Value.from_score(proven_q[action]),
            estimate=None if proven_q[action] != UNPROVEN else _estimate(q[action]),
            exact=bool(proven_q[action] != UNPROVEN),
            best=action == best,
            visits=int(visits[action]),
            pv=(move,),
        )
        for action in ranked
    ]


def _candidates_by_policy(position: Position, logits: Any, values: Any) -> list[Candidate]:
    """Return the moves, sorted by probability; the first has the state's value as its estimate."""
    game = position.game
    legal_logits = np.full(game.num_actions, ILLEGAL_LOGIT)
    legal_logits[position.actions] = logits[0, position.actions]
    best = int(legal_logits.argmax())
    ranked = sorted(position.actions, key=lambda action: -legal_logits[action])
    return [
        Candidate(
            move := position.to_move_text(action),
            estimate=_estimate(values[0] + legal_logits[action] - legal_logits[best]),
            best=action == best,
            pv=(move,),
        )
        for action in ranked
    ]


def _estimate(value: Any) -> float:
    return round(float(np.clip(value, -_MAX_ESTIMATE, _MAX_ESTIMATE)), 4)
