"""The peer on a GPU: Connect Four of pgx searched by mctx, with the same network in JAX."""

import importlib
import statistics
import time
from typing import Any

from zermelo.learn.config.network import DENSE, NetworkConfig

_PLIES = 6
_CELLS = 42


def rate(batch: int, simulations: int, shape: NetworkConfig, repeat: int) -> float:
    """Simulations a second: the median of some searches of all games, compiled before."""
    jax: Any = importlib.import_module("jax")
    mctx: Any = importlib.import_module("mctx")
    pgx: Any = importlib.import_module("pgx")
    env = pgx.make("connect_four")
    weights = _weights(jax, shape)
    step = jax.vmap(env.step)

    def judge(state: Any) -> tuple[Any, Any]:
        return _network(jax, weights, state.observation, shape)

    def follow(_params: Any, _key: Any, actions: Any, state: Any) -> Any:
        mover = state.current_player
        state = step(state, actions)
        logits, value = judge(state)
        rows = jax.numpy.arange(batch)
        reward = state.rewards[rows, mover]
        logits = jax.numpy.where(state.legal_action_mask, logits, -1e9)
        out = mctx.RecurrentFnOutput(
            reward=reward,
            discount=jax.numpy.where(state.terminated, 0.0, -1.0),
            prior_logits=logits,
            value=jax.numpy.where(state.terminated, 0.0, value),
        )
        return out, state

    def search(state: Any, key: Any) -> Any:
        logits, value = judge(state)
        root = mctx.RootFnOutput(prior_logits=logits, value=value, embedding=state)
        found = mctx.gumbel_muzero_policy(
            None,
            key,
            root,
            follow,
            simulations,
            invalid_actions=~state.legal_action_mask,
            max_num_considered_actions=16,
        )
        return found.action, found.action_weights

    key = jax.random.PRNGKey(1)
    state = jax.jit(jax.vmap(env.init))(jax.random.split(key, batch))
    moved = jax.jit(lambda s, k: step(s, _any(jax, s, k)))
    for ply in range(_PLIES):
        state = moved(state, jax.random.fold_in(key, ply))
    searched = jax.jit(search)
    rates = []
    for attempt in range(repeat + 2):
        begin = time.perf_counter()
        jax.block_until_ready(searched(state, key))
        if attempt > 1:
            rates.append(batch * simulations / (time.perf_counter() - begin))
    return statistics.median(rates)


def _any(jax: Any, state: Any, key: Any) -> Any:
    chances = jax.random.uniform(key, state.legal_action_mask.shape)
    return (state.legal_action_mask * (chances + 1e-3)).argmax(1)


def _weights(jax: Any, shape: NetworkConfig) -> dict[str, Any]:
    """As large as ours, the normalisation folded in; what they are does not matter here."""
    key, found = jax.random.PRNGKey(0), {}
    sizes = _of_dense(shape) if shape.kind == DENSE else _of_tower(shape)
    for place, (name, size) in enumerate(sizes.items()):
        drawn = jax.random.normal(jax.random.fold_in(key, place), size) * 0.05
        found[name] = drawn.astype(jax.numpy.bfloat16)
        found[f"{name}.bias"] = jax.numpy.zeros(size[-1], jax.numpy.bfloat16)
    return found


def _of_tower(shape: NetworkConfig) -> dict[str, tuple[int, ...]]:
    width, (head, hidden) = shape.channels[0], shape.hidden
    sizes: dict[str, tuple[int, ...]] = {"conv0": (3, 3, 2, width)}
    for number in range(1, 2 * len(shape.channels) + 1):
        sizes[f"conv{number}"] = (3, 3, width, width)
    sizes |= {"heads": (1, 1, width, head), "hidden": (head * _CELLS, hidden)}
    return sizes | {"policy": (head * _CELLS, 7), "result": (hidden, 3)}


def _of_dense(shape: NetworkConfig) -> dict[str, tuple[int, ...]]:
    sizes: dict[str, tuple[int, ...]] = {}
    inputs = 2 * _CELLS
    for number, width in enumerate(shape.hidden):
        sizes[f"full{number}"] = (inputs, width)
        inputs = width
    return sizes | {"policy": (inputs, 7), "result": (inputs, 3)}


def _network(
    jax: Any, weights: dict[str, Any], planes: Any, shape: NetworkConfig
) -> tuple[Any, Any]:
    numpy = jax.numpy

    def convolved(x: Any, name: str) -> Any:
        found = jax.lax.conv_general_dilated(
            x, weights[name], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        return found + weights[f"{name}.bias"]

    def full(x: Any, name: str) -> Any:
        return x @ weights[name] + weights[f"{name}.bias"]

    def layers(x: Any, layer: Any, name: str, number: int) -> Any:
        """One, and pairs with ways around them."""
        x = jax.nn.relu(layer(x, f"{name}0"))
        for place in range(1, number, 2):
            y = jax.nn.relu(layer(x, f"{name}{place}"))
            x = jax.nn.relu(x + layer(y, f"{name}{place + 1}"))
        return x

    x = planes.astype(numpy.bfloat16)
    if shape.kind == DENSE:
        whole = x = layers(x.reshape(len(x), -1), full, "full", len(shape.hidden))
    else:
        x = layers(x, convolved, "conv", 2 * len(shape.channels) + 1)
        x = jax.nn.relu(convolved(x, "heads")).reshape(len(x), -1)
        whole = jax.nn.relu(full(x, "hidden"))
    chances = jax.nn.softmax(full(whole, "result").astype(numpy.float32))
    return full(x, "policy").astype(numpy.float32), chances[:, 0] - chances[:, 2]
