"""Measure mctx's search of pgx's Connect Four on a GPU, with our network architecture in JAX."""

import importlib
import statistics
import time
from typing import Any

from zermelo.learn.config.network import DENSE, NetworkConfig

_START_PLIES = 6  # random plies before the search
_NUM_CELLS = 42
_WARM_UP_RUNS = 2  # runs that compile code and are not measured


def measure_rate(batch: int, simulations: int, config: NetworkConfig, repeat: int) -> float:
    """Return the median number of simulations per second in `repeat` searches of `batch` games."""
    jax: Any = importlib.import_module("jax")
    mctx: Any = importlib.import_module("mctx")
    pgx: Any = importlib.import_module("pgx")
    env = pgx.make("connect_four")
    weights = _sample_weights(jax, config)
    step = jax.vmap(env.step)

    def evaluate(state: Any) -> tuple[Any, Any]:
        return _evaluate(jax, weights, state.observation, config)

    def recurrent_step(_params: Any, _key: Any, actions: Any, state: Any) -> Any:
        mover = state.current_player
        state = step(state, actions)
        logits, value = evaluate(state)
        rows = jax.numpy.arange(batch)
        reward = state.rewards[rows, mover]
        logits = jax.numpy.where(state.legal_action_mask, logits, -1e9)
        output = mctx.RecurrentFnOutput(
            reward=reward,
            discount=jax.numpy.where(state.terminated, 0.0, -1.0),
            prior_logits=logits,
            value=jax.numpy.where(state.terminated, 0.0, value),
        )
        return output, state

    def search(state: Any, key: Any) -> Any:
        logits, value = evaluate(state)
        root = mctx.RootFnOutput(prior_logits=logits, value=value, embedding=state)
        result = mctx.gumbel_muzero_policy(
            None,
            key,
            root,
            recurrent_step,
            simulations,
            invalid_actions=~state.legal_action_mask,
            max_num_considered_actions=16,
        )
        return result.action, result.action_weights

    key = jax.random.PRNGKey(1)
    state = jax.jit(jax.vmap(env.init))(jax.random.split(key, batch))
    play_random = jax.jit(lambda s, k: step(s, _sample_actions(jax, s, k)))
    for ply in range(_START_PLIES):
        state = play_random(state, jax.random.fold_in(key, ply))
    compiled_search = jax.jit(search)
    rates = []
    for attempt in range(repeat + _WARM_UP_RUNS):
        begin = time.perf_counter()
        jax.block_until_ready(compiled_search(state, key))
        if attempt >= _WARM_UP_RUNS:
            rates.append(batch * simulations / (time.perf_counter() - begin))
    return statistics.median(rates)


def _sample_actions(jax: Any, state: Any, key: Any) -> Any:
    priorities = jax.random.uniform(key, state.legal_action_mask.shape)
    return (state.legal_action_mask * (priorities + 1e-3)).argmax(1)


def _sample_weights(jax: Any, config: NetworkConfig) -> dict[str, Any]:
    """Return random weights for a network of our size with batch norm fused into its layers."""
    key, weights = jax.random.PRNGKey(0), {}
    shapes = _dense_shapes(config) if config.kind == DENSE else _tower_shapes(config)
    for number, (name, shape) in enumerate(shapes.items()):
        sample = jax.random.normal(jax.random.fold_in(key, number), shape) * 0.05
        weights[name] = sample.astype(jax.numpy.bfloat16)
        weights[f"{name}.bias"] = jax.numpy.zeros(shape[-1], jax.numpy.bfloat16)
    return weights


def _tower_shapes(config: NetworkConfig) -> dict[str, tuple[int, ...]]:
    width, (head, hidden) = config.channels[0], config.hidden
    shapes: dict[str, tuple[int, ...]] = {"conv0": (3, 3, 2, width)}
    for number in range(1, 2 * len(config.channels) + 1):
        shapes[f"conv{number}"] = (3, 3, width, width)
    shapes |= {"heads": (1, 1, width, head), "hidden": (head * _NUM_CELLS, hidden)}
    return shapes | {"policy": (head * _NUM_CELLS, 7), "result": (hidden, 3)}


def _dense_shapes(config: NetworkConfig) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {}
    inputs = 2 * _NUM_CELLS
    for number, width in enumerate(config.hidden):
        shapes[f"full{number}"] = (inputs, width)
        inputs = width
    return shapes | {"policy": (inputs, 7), "result": (inputs, 3)}


def _evaluate(
    jax: Any, weights: dict[str, Any], planes: Any, config: NetworkConfig
) -> tuple[Any, Any]:
    numpy = jax.numpy

    def convolve(x: Any, name: str) -> Any:
        y = jax.lax.conv_general_dilated(
            x, weights[name], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        return y + weights[f"{name}.bias"]

    def linear(x: Any, name: str) -> Any:
        return x @ weights[name] + weights[f"{name}.bias"]

    def layers(x: Any, layer: Any, name: str, number: int) -> Any:
        """Apply one layer, then pairs of layers with skip connections."""
        x = jax.nn.relu(layer(x, f"{name}0"))
        for place in range(1, number, 2):
            y = jax.nn.relu(layer(x, f"{name}{place}"))
            x = jax.nn.relu(x + layer(y, f"{name}{place + 1}"))
        return x

    x = planes.astype(numpy.bfloat16)
    if config.kind == DENSE:
        board = x = layers(x.reshape(len(x), -1), linear, "full", len(config.hidden))
    else:
        x = layers(x, convolve, "conv", 2 * len(config.channels) + 1)
        x = jax.nn.relu(convolve(x, "heads")).reshape(len(x), -1)
        board = jax.nn.relu(linear(x, "hidden"))
    probabilities = jax.nn.softmax(linear(board, "result").astype(numpy.float32))
    return linear(x, "policy").astype(numpy.float32), probabilities[:, 0] - probabilities[:, 2]
