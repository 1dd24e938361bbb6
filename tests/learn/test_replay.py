"""The replay buffer: eviction, sampling frequencies, importance weights and checkpoints."""

from typing import Any

import numpy as np
import pytest

from zermelo.learn.batch.replay import ReplayBuffer, Transitions


def transitions(*numbers: int) -> Transitions:
    """Return transitions with distinct contents for each number."""
    marks = np.array(numbers, np.int64)
    states = np.stack([marks, marks + 1000, marks % 2], 1).astype(np.uint64)
    return Transitions(states, marks, marks / 2, -marks / 4, states + np.uint64(1))


def actions_in(replay: ReplayBuffer) -> list[int]:
    """Return the actions in the ring, in the order of their indices."""
    return replay._columns.actions[: len(replay)].tolist()


def chi_square(counts: Any, probabilities: Any) -> float:
    expected = np.asarray(probabilities) * np.sum(counts)
    return float(((counts - expected) ** 2 / expected).sum())


def test_the_oldest_transitions_are_overwritten() -> None:
    replay = ReplayBuffer(5, 3)
    assert len(replay) == 0
    replay.add(transitions(1, 2, 3))
    assert (len(replay), actions_in(replay)) == (3, [1, 2, 3])
    replay.add(transitions(4, 5, 6, 7))
    assert (len(replay), replay.num_added, actions_in(replay)) == (5, 7, [6, 7, 3, 4, 5])
    replay.add(transitions(8))
    assert actions_in(replay) == [6, 7, 8, 4, 5]


@pytest.mark.parametrize(
    "alpha",
    [0.0, 0.6],
)
def test_adding_no_transitions(alpha: float) -> None:
    """After the first plies, no transition of several steps is complete yet."""
    replay = ReplayBuffer(5, 3, alpha)
    replay.add(transitions())
    assert len(replay) == 0
    replay.add(transitions(1, 2))
    replay.add(transitions())
    assert actions_in(replay) == [1, 2]


def test_the_columns_of_a_sample_belong_together() -> None:
    for alpha in (0.0, 0.6):
        replay = ReplayBuffer(100, 3, alpha)
        replay.add(transitions(*range(60)))
        batch = replay.sample(500, np.random.default_rng(0))
        sample = batch.transitions
        assert sample.actions.tolist() == batch.indices.tolist()  # in the order of insertion
        expected = transitions(*sample.actions.tolist())
        for name, column in sample._asdict().items():
            np.testing.assert_array_equal(column, getattr(expected, name), err_msg=name)


def test_uniform_sampling() -> None:
    replay = ReplayBuffer(40, 3)
    replay.add(transitions(*range(90)))
    batch = replay.sample(40_000, np.random.default_rng(1))
    counts = np.bincount(batch.indices, minlength=40)
    assert chi_square(counts, np.full(40, 1 / 40)) < 72  # 39 degrees of freedom: p = 0.001
    assert (batch.weights == 1).all()
    replay.update_priorities(batch.indices, np.arange(40_000))  # without effect here
    assert (replay.sample(10, np.random.default_rng(2)).weights == 1).all()


@pytest.mark.parametrize("size", [1, 2, 7, 37, 64])
def test_prioritised_sampling(size: int) -> None:
    """In proportion to (error + 0.001) ** alpha, also if the size is not a power of two."""
    alpha = 0.7
    replay = ReplayBuffer(size, 3, alpha)
    replay.add(transitions(*range(size)))
    errors = np.linspace(-2, 3, size)
    replay.update_priorities(np.arange(size), errors)
    priorities = (np.abs(errors) + 1e-3) ** alpha
    probabilities = priorities / priorities.sum()
    batch = replay.sample(50_000, np.random.default_rng(3))
    counts = np.bincount(batch.indices, minlength=size)
    assert chi_square(counts, probabilities) < (size - 1) + 4.5 * np.sqrt(2 * size) + 10
    if size > 2:  # the same sample is not uniform
        assert chi_square(counts, np.full(size, 1 / size)) > 1000


def test_importance_weights_correct_the_bias() -> None:
    alpha, beta = 1.0, 0.5
    replay = ReplayBuffer(8, 3, alpha, beta)
    replay.add(transitions(*range(8)))
    errors = np.arange(1.0, 9.0)
    replay.update_priorities(np.arange(8), errors)
    batch = replay.sample(5000, np.random.default_rng(4))
    probabilities = (errors + 1e-3) / (errors + 1e-3).sum()
    raw = (8 * probabilities[batch.indices]) ** -beta
    np.testing.assert_allclose(batch.weights, raw / raw.max(), rtol=1e-5)
    assert batch.weights.max() == 1
    corrected = ReplayBuffer(8, 3, alpha, beta=1.0)
    corrected.add(transitions(*range(8)))
    corrected.update_priorities(np.arange(8), errors)
    batch = corrected.sample(400_000, np.random.default_rng(5))
    # With beta 1 the weights of every transition have the same sum, however often it is sampled.
    sums = np.bincount(batch.indices, batch.weights, minlength=8)
    np.testing.assert_allclose(sums / sums.mean(), 1, atol=0.05)


def test_new_transitions_have_the_highest_priority() -> None:
    replay = ReplayBuffer(16, 3, 1.0)
    replay.add(transitions(*range(8)))
    replay.update_priorities(np.arange(8), np.array([9.0, 0, 0, 0, 0, 0, 0, 0]))
    replay.add(transitions(8, 9))
    counts = np.bincount(replay.sample(30_000, np.random.default_rng(6)).indices, minlength=16)
    assert counts[[0, 8, 9]].min() > 9000
    assert counts[10:].sum() == 0


def test_an_overwritten_transition_loses_its_priority() -> None:
    replay = ReplayBuffer(4, 3, 1.0)
    replay.add(transitions(0, 1, 2, 3))
    replay.update_priorities(np.arange(4), np.array([0.5, 0.0, 0.0, 0.0]))
    replay.add(transitions(4, 5))  # over 0 and 1, with the initial priority 1
    counts = np.bincount(replay.sample(20_000, np.random.default_rng(7)).indices, minlength=4)
    assert abs(counts[0] - counts[1]) < 500
    assert counts[2] + counts[3] < 200


def test_the_sum_tree_is_consistent() -> None:
    rng = np.random.default_rng(8)
    replay = ReplayBuffer(37, 3, 0.6)
    for _ in range(50):
        replay.add(transitions(*range(int(rng.integers(1, 12)))))
        batch = replay.sample(5, rng)
        replay.update_priorities(batch.indices, rng.normal(size=5))
    sums, half = replay._sums, len(replay._sums) // 2
    inner = np.arange(1, half)
    np.testing.assert_allclose(sums[inner], sums[2 * inner] + sums[2 * inner + 1])
    assert (sums[half + 37 :] == 0).all()


@pytest.mark.parametrize("alpha", [0.0, 0.6])
def test_a_checkpoint_restores_the_same_samples(alpha: float) -> None:
    def fill_buffer() -> tuple[ReplayBuffer, np.random.Generator]:
        rng = np.random.default_rng(9)
        replay = ReplayBuffer(50, 3, alpha)
        replay.add(transitions(*range(70)))
        batch = replay.sample(30, rng)
        replay.update_priorities(batch.indices, rng.normal(size=30) * 3)
        return replay, rng

    first, rng = fill_buffer()
    arrays = {name: array.copy() for name, array in first.to_arrays().items()}
    state = rng.bit_generator.state
    second = ReplayBuffer(50, 3, alpha)
    second.load_arrays(arrays)
    other = np.random.default_rng(0)
    other.bit_generator.state = state
    for number in range(5):
        batches = first.sample(16, rng), second.sample(16, other)
        np.testing.assert_array_equal(batches[0].indices, batches[1].indices)
        np.testing.assert_array_equal(batches[0].weights, batches[1].weights)
        for ours, theirs in zip(batches[0].transitions, batches[1].transitions, strict=True):
            np.testing.assert_array_equal(ours, theirs)
        for replay in (first, second):
            replay.update_priorities(batches[0].indices, np.arange(16.0))
            replay.add(transitions(100 + number, 200 + number))
    assert first.num_added == second.num_added
