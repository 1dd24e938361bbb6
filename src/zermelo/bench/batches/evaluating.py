"""Compare `Model.evaluate` with the bare network on inputs that are already encoded."""

from collections.abc import Callable

from zermelo.bench import measure
from zermelo.bench.batches.alternation import measure_alternately
from zermelo.bench.measure import ProgressFunction, Row
from zermelo.core.game import WordGame
from zermelo.learn.alphazero.model_file import load_policy_value_model
from zermelo.learn.batch.encoders import Encoder
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.hybrid.value_model import ValueFunction, load_value_model
from zermelo.learn.inference import load_model
from zermelo.learn.models.files import ShippedModel, shipped_models
from zermelo.learn.models.q_model import QModel
from zermelo.learn.networks.evaluation import evaluate_in_batches
from zermelo.learn.networks.weights_file import Array

_MAX_PLIES = {"tictactoe": 7}
_DEFAULT_PLIES = 16  # states are sampled from random play of fewer plies than this


def measure_models(number: int, repeat: int, progress: ProgressFunction) -> list[Row]:
    """Measure every shipped model on `number` positions.

    Of a model without a policy, only the value is measured.
    """
    rows: list[Row] = []
    for shipped in shipped_models():
        progress(f"{shipped.name}: {number:,} positions")
        rows += _measure_model(shipped, number, repeat)
    return rows


def _measure_model(shipped: ShippedModel, number: int, repeat: int) -> list[Row]:
    model = load_model(shipped.name)
    batch = GameBatch(model.game)
    plies = _MAX_PLIES.get(shipped.game, _DEFAULT_PLIES)
    states = batch.sample_states(number, plies, seed=1)
    positions, with_policy = batch.to_positions(states), shipped.kind != "hybrid"
    seconds = measure_alternately(
        {
            "zermelo": lambda: model.evaluate(positions, with_policy=with_policy),
            "bare network": _bare_network(shipped, model.game, batch, states),
        },
        repeat,
    )
    task = f"evaluate {shipped.name}"
    return [
        measure.create_row(shipped.game, task, system, number / time, "positions/s", ms=1000 * time)
        for system, time in seconds.items()
    ]


def _bare_network(
    shipped: ShippedModel, game: WordGame, batch: GameBatch, states: Array
) -> Callable[[], object]:
    """Return a function that evaluates the encoded states with the network alone."""
    if shipped.kind == "hybrid":  # its kernel reads the states themselves
        evaluate = ValueFunction(load_value_model(shipped.name, game))
        return lambda: evaluate(states)
    if shipped.kind == "alphazero":
        network = load_policy_value_model(shipped.name, game).evaluate
        planes = Encoder("planes", game)(states)
        return lambda: evaluate_in_batches(network, planes)
    model = QModel(shipped.name, game)
    images = batch.canonicalise(states)[0] if model.canonical else states
    q_network = model.network
    assert model.encoder is not None
    assert q_network is not None
    inputs, legal = model.encoder(images), batch.legal_masks(images)
    return lambda: evaluate_in_batches(q_network, inputs, legal)
