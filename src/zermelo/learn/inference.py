"""Evaluate batches of positions with a learned model: a shipped one, or one of the user's runs.

Inference uses numpy and kernels, as in play; it needs torch only if the network is custom.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from zermelo.core.errors import BadSpec
from zermelo.core.game import Game, WordGame
from zermelo.core.position import Position
from zermelo.games import registry
from zermelo.learn.alphazero.model_file import load_policy_value_model
from zermelo.learn.batch.encoders import Encoder
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.hybrid.value_model import ValueFunction, load_value_model
from zermelo.learn.models.files import find_model_file, player_kind
from zermelo.learn.models.q_model import QModel
from zermelo.learn.networks import weights_file
from zermelo.learn.networks.evaluation import evaluate_in_batches
from zermelo.learn.networks.weights_file import Array, BadWeights
from zermelo.search.state_arrays import check_and_convert

#: the softmax temperature that turns Q values into a policy, as for the priors of `mcts`
TEMPERATURE = 0.25
_KINDS = ("dqn", "hybrid", "alphazero")
_MAX_STATES = 1 << 14  # maximum number of states encoded together, to bound memory


@dataclass(frozen=True, eq=False)
class Evaluations:
    """What a model says about n positions, always for the side to move.

    In a finished game, the value is that of the game's result, and the policy is 0 everywhere.
    """

    value: Array  #: [n]: the expected result, from -1 (a loss) to 1 (a win)
    policy: Array | None  #: [n, action]: probabilities of the legal actions; 0 for all others
    #: [n, action]: the value after each legal action, -inf for all others; None if the model has
    #: a policy of its own
    q: Array | None

    def __len__(self) -> int:
        """Return the number of positions."""
        return len(self.value)


class _Network(Protocol):
    """Evaluates nonterminal states; the outputs for terminal states are not used."""

    def __call__(self, states: Array, legal: Array, *, with_policy: bool) -> Evaluations:
        """Evaluate states [row, word], whose legal actions are given [row, action]."""


class Model:
    """A learned model, which evaluates batches of positions; see `load_model`.

    It holds scratch memory, so each thread needs a model of its own.
    """

    def __init__(self, run: str, game: WordGame, metadata: dict[str, Any]) -> None:
        self.name, self.game, self.metadata = run, game, metadata
        self.kind = player_kind(metadata)  #: "dqn", "hybrid" or "alphazero"
        self._game_batch = GameBatch(game)
        self._network: _Network = _NETWORKS[self.kind](run, game)

    def __repr__(self) -> str:
        """Return the name, the kind and the game."""
        return f"<model {self.name} ({self.kind}) for {self.game.spec}>"

    def evaluate(
        self, positions: Iterable[Position] | Array, *, with_policy: bool = True
    ) -> Evaluations:
        """Evaluate positions, or an array of states [n, word] such as those of a `GameBatch`.

        - `alphazero` models have a policy and a value.
        - `dqn` models have Q values. The value is the highest Q value of a legal action, limited to
          [-1, 1]; the policy is the softmax of q / 0.25.
        - `hybrid` models have a value only. Q is minus the value after each legal action, which
          takes one evaluation per action; `with_policy=False` avoids these. A state that the
          solver hooks resolve, such as one with an immediate win, has its proven value.

        >>> import zermelo as z
        >>> game = z.game("tictactoe")
        >>> result = z.model("tictactoe-dqn").evaluate([game.start(), game.position("XX./OO./...")])
        >>> result.value.shape, result.policy.shape, int(result.policy[1].argmax())
        ((2,), (2, 9), 2)
        """
        if isinstance(positions, np.ndarray):
            states = self._game_batch.check_states(positions)
        else:
            states = check_and_convert(self.game, positions, "evaluate")
        if not len(states):
            one = self.evaluate([self.game.start()], with_policy=with_policy)
            parts = (None if part is None else part[:0] for part in (one.policy, one.q))
            return Evaluations(one.value[:0], *parts)
        legal = self._game_batch.legal_masks(states)
        results = [
            self._network(states[rows], legal[rows], with_policy=with_policy)
            for rows in _split(len(states))
        ]
        value = _join([result.value for result in results])
        is_over = ~np.ascontiguousarray(legal.T).any(0)  # faster than `any(1)`: rows are short
        for row in np.flatnonzero(is_over).tolist():
            value[row] = self.game.result(tuple(states[row].tolist()))[1]
        policies = [result.policy for result in results if result.policy is not None]
        q = [result.q for result in results if result.q is not None]
        return Evaluations(value, _join(policies), _join(q))


def load_model(source: Any, game: Game | str | None = None) -> Model:
    """Load a model: a shipped one by name, a file or folder of a run by path, or a `Run`.

    `source` may also be a player's spec, such as "dqn:tictactoe-dqn". `game` is needed only if the
    model's game is in a user's file; otherwise the model's file names the game. Raise BadWeights if
    there is no such model, or if it does not fit the game.

    >>> import zermelo as z
    >>> z.model("gomoku6-alphazero")
    <model gomoku6-alphazero (alphazero) for gomoku6>
    """
    folder = getattr(source, "folder", None)
    if folder is not None:
        game = getattr(source, "game", None) if game is None else game
        source = folder
    if not isinstance(source, str | Path):
        msg = (
            "a model is the name of a shipped model, the path of a run or a Run, "
            f"not {type(source).__name__}"
        )
        raise BadWeights(msg)
    run = str(source)
    kind, colon, rest = run.partition(":")
    if colon and kind in _KINDS:
        run = rest
    metadata = weights_file.read_metadata(find_model_file(run))
    return Model(run, _find_game(run, metadata, game), metadata)


def _find_game(run: str, metadata: dict[str, Any], game: Game | str | None) -> WordGame:
    """Return the game of a model; a game file that the model names is never loaded."""
    if isinstance(game, str):
        game = registry.game(game)
    if game is None:
        try:
            game = registry.named_game(str(metadata.get("game")))
        except BadSpec:
            msg = f"{run} is for {metadata.get('game')!r}, which is not built in: add game=…"
            raise BadWeights(msg) from None
    if not isinstance(game, WordGame):
        name = game.spec if isinstance(game, Game) else type(game).__name__
        msg = f"{run} cannot be used for {name}: models are for bitboard games up to 64 cells"
        raise BadWeights(msg)
    return game


class _QNetwork:
    """The Q values of a network or a table."""

    def __init__(self, run: str, game: WordGame) -> None:
        self.model = QModel(run, game)

    def __call__(self, states: Array, legal: Array, *, with_policy: bool) -> Evaluations:
        q = self.model.values(states)
        np.putmask(q, ~legal, -np.inf)
        highest = _highest(q)
        policy = _softmax(q, highest, TEMPERATURE) if with_policy else None
        return Evaluations(np.clip(highest, -1, 1), policy, q)


class _PolicyValueNetwork:
    """The policy and the value of AlphaZero's network."""

    def __init__(self, run: str, game: WordGame) -> None:
        self.network = load_policy_value_model(run, game).evaluate
        self.encode = Encoder("planes", game)

    def __call__(self, states: Array, legal: Array, *, with_policy: bool) -> Evaluations:
        logits, value = evaluate_in_batches(self.network, self.encode(states))
        policy = None
        if with_policy:
            np.putmask(logits, ~legal, -np.inf)
            policy = _softmax(logits, _highest(logits))
        return Evaluations(value, policy, None)


class _ValueNetwork:
    """The value of a network; the values after each action give Q and the policy."""

    def __init__(self, run: str, game: WordGame) -> None:
        self.evaluate = ValueFunction(load_value_model(run, game))
        self.game_batch = GameBatch(game)

    def __call__(self, states: Array, legal: Array, *, with_policy: bool) -> Evaluations:
        value = self.evaluate(states)
        if not with_policy:
            return Evaluations(value, None, None)
        rows, actions = (np.ascontiguousarray(part) for part in np.nonzero(legal))
        next_states, _rewards, _over = self.game_batch.step(states[rows], actions)
        q = np.full(legal.shape, -np.inf, np.float32)
        signs = np.where(next_states[:, -1] == states[rows, -1], 1, -1)
        q[rows, actions] = signs * self.evaluate(next_states)
        return Evaluations(value, _softmax(q, _highest(q), TEMPERATURE), q)


_NETWORKS: dict[str, Callable[[str, WordGame], _Network]] = {
    "dqn": _QNetwork,
    "hybrid": _ValueNetwork,
    "alphazero": _PolicyValueNetwork,
}


def _split(number: int) -> list[slice]:
    """Return slices of at most `_MAX_STATES` rows that cover this number of rows."""
    return [slice(begin, begin + _MAX_STATES) for begin in range(0, number, _MAX_STATES)]


def _join(parts: list[Array]) -> Any:
    """Return the rows of all parts as one array; None if there are no parts."""
    if len(parts) > 1:
        return np.concatenate(parts)
    return parts[0] if parts else None


def _highest(scores: Array) -> Array:
    """Return the highest score of each row; numpy's `max(1)` is slow if rows are short."""
    return np.asarray(np.ascontiguousarray(scores.T).max(0))


def _softmax(scores: Array, highest: Array, temperature: float = 1.0) -> Array:
    """Return the softmax of each row; a row in which every score is -inf becomes 0."""
    shift = np.where(np.isneginf(highest), np.float32(0), highest)
    weights = scores - shift[:, None]
    weights *= np.float32(1 / temperature)
    np.exp(weights, out=weights)
    total = np.ascontiguousarray(weights.T).sum(0)
    total[total == 0] = 1
    weights /= total[:, None]
    return weights
