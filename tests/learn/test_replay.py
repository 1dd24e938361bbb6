"""The replay: what is kept, what is drawn how often, and what a checkpoint brings back."""

from typing import Any

import numpy as np
import pytest

from zermelo.learn.batch.replay import Replay, Transitions


def rows(*numbers: int) -> Transitions:
    """Transitions that can be told apart by one number each."""
    marks = np.array(numbers, np.int64)
    states = np.stack([marks, marks + 1000, marks % 2], 1).astype(np.uint64)
    return Transitions(states, marks, marks / 2, -marks / 4, states + np.uint64(1))


def kept(replay: Replay) -> list[int]:
    """The actions in the ring, place by place."""
    return replay._rows.actions[: len(replay)].tolist()


def chi_square(counts: Any, chances: Any) -> float:
    expected = np.asarray(chances) * np.sum(counts)
    return float(((counts - expected) ** 2 / expected).sum())


def test_the_oldest_make_room() -> None:
    replay = Replay(5, 3)
    assert len(replay) == 0
    replay.add(rows(1, 2, 3))
    assert (len(replay), kept(replay)) == (3, [1, 2, 3])
    replay.add(rows(4, 5, 6, 7))
    assert (len(replay), replay.added, kept(replay)) == (5, 7, [6, 7, 3, 4, 5])
    replay.add(rows(8))
    assert kept(replay) == [6, 7, 8, 4, 5]


@pytest.mark.parametrize(
    "alpha",
    [0.0, 0.6],
)
def test_nothing_to_add_is_nothing_added(alpha: float) -> None:
    """As after the first plies, when no transition of several steps is complete yet."""
    replay = Replay(5, 3, alpha)
    replay.add(rows())
    assert len(replay) == 0
    replay.add(rows(1, 2))
    replay.add(rows())
    assert kept(replay) == [1, 2]


def test_what_is_drawn_belongs_together() -> None:
    for alpha in (0.0, 0.6):
        replay = Replay(100, 3, alpha)
        replay.add(rows(*range(60)))
        batch = replay.draw(500, np.random.default_rng(0))
        drawn = batch.drawn
        assert drawn.actions.tolist() == batch.places.tolist()  # as they were put in
        wanted = rows(*drawn.actions.tolist())
        for name, column in drawn._asdict().items():
            np.testing.assert_array_equal(column, getattr(wanted, name), err_msg=name)


def test_uniform_draws() -> None:
    replay = Replay(40, 3)
    replay.add(rows(*range(90)))
    batch = replay.draw(40_000, np.random.default_rng(1))
    counts = np.bincount(batch.places, minlength=40)
    assert chi_square(counts, np.full(40, 1 / 40)) < 72  # 39 degrees of freedom: p = 0.001
    assert (batch.weights == 1).all()
    replay.learned(batch.places, np.arange(40_000))  # of no consequence here
    assert (replay.draw(10, np.random.default_rng(2)).weights == 1).all()


@pytest.mark.parametrize("size", [1, 2, 7, 37, 64])
def test_draws_by_error(size: int) -> None:
    """In proportion to (error + a little) ** alpha, also where the ring is no power of two."""
    alpha = 0.7
    replay = Replay(size, 3, alpha)
    replay.add(rows(*range(size)))
    errors = np.linspace(-2, 3, size)
    replay.learned(np.arange(size), errors)
    weights = (np.abs(errors) + 1e-3) ** alpha
    chances = weights / weights.sum()
    batch = replay.draw(50_000, np.random.default_rng(3))
    counts = np.bincount(batch.places, minlength=size)
    assert chi_square(counts, chances) < (size - 1) + 4.5 * np.sqrt(2 * size) + 10
    if size > 2:  # the same draws are not uniform
        assert chi_square(counts, np.full(size, 1 / size)) > 1000


def test_importance_weights_make_up_for_it() -> None:
    alpha, beta = 1.0, 0.5
    replay = Replay(8, 3, alpha, beta)
    replay.add(rows(*range(8)))
    errors = np.arange(1.0, 9.0)
    replay.learned(np.arange(8), errors)
    batch = replay.draw(5000, np.random.default_rng(4))
    chances = (errors + 1e-3) / (errors + 1e-3).sum()
    raw = (8 * chances[batch.places]) ** -beta
    np.testing.assert_allclose(batch.weights, raw / raw.max(), rtol=1e-5)
    assert batch.weights.max() == 1
    full = Replay(8, 3, alpha, beta=1.0)
    full.add(rows(*range(8)))
    full.learned(np.arange(8), errors)
    drawn = full.draw(400_000, np.random.default_rng(5))
    # With beta 1 every transition counts alike in sum, however often it is drawn.
    sums = np.bincount(drawn.places, drawn.weights, minlength=8)
    np.testing.assert_allclose(sums / sums.mean(), 1, atol=0.05)


def test_what_is_new_is_drawn_as_often_as_what_went_most_wrong() -> None:
    replay = Replay(16, 3, 1.0)
    replay.add(rows(*range(8)))
    replay.learned(np.arange(8), np.array([9.0, 0, 0, 0, 0, 0, 0, 0]))
    replay.add(rows(8, 9))
    counts = np.bincount(replay.draw(30_000, np.random.default_rng(6)).places, minlength=16)
    assert counts[[0, 8, 9]].min() > 9000
    assert counts[10:].sum() == 0


def test_a_place_that_is_written_again_loses_its_old_error() -> None:
    replay = Replay(4, 3, 1.0)
    replay.add(rows(0, 1, 2, 3))
    replay.learned(np.arange(4), np.array([0.5, 0.0, 0.0, 0.0]))
    replay.add(rows(4, 5))  # over 0 and 1, at the weight 1 that new ones begin with
    counts = np.bincount(replay.draw(20_000, np.random.default_rng(7)).places, minlength=4)
    assert abs(counts[0] - counts[1]) < 500
    assert counts[2] + counts[3] < 200


def test_sums_stay_true() -> None:
    rng = np.random.default_rng(8)
    replay = Replay(37, 3, 0.6)
    for _ in range(50):
        replay.add(rows(*range(int(rng.integers(1, 12)))))
        batch = replay.draw(5, rng)
        replay.learned(batch.places, rng.normal(size=5))
    sums, half = replay._sums, len(replay._sums) // 2
    inner = np.arange(1, half)
    np.testing.assert_allclose(sums[inner], sums[2 * inner] + sums[2 * inner + 1])
    assert (sums[half + 37 :] == 0).all()


@pytest.mark.parametrize("alpha", [0.0, 0.6])
def test_a_checkpoint_brings_the_same_draws(alpha: float) -> None:
    def filled() -> tuple[Replay, np.random.Generator]:
        rng = np.random.default_rng(9)
        replay = Replay(50, 3, alpha)
        replay.add(rows(*range(70)))
        batch = replay.draw(30, rng)
        replay.learned(batch.places, rng.normal(size=30) * 3)
        return replay, rng

    first, rng = filled()
    arrays = {name: array.copy() for name, array in first.to_arrays().items()}
    state = rng.bit_generator.state
    second = Replay(50, 3, alpha)
    second.load_arrays(arrays)
    other = np.random.default_rng(0)
    other.bit_generator.state = state
    for number in range(5):
        batches = first.draw(16, rng), second.draw(16, other)
        np.testing.assert_array_equal(batches[0].places, batches[1].places)
        np.testing.assert_array_equal(batches[0].weights, batches[1].weights)
        for ours, theirs in zip(batches[0].drawn, batches[1].drawn, strict=True):
            np.testing.assert_array_equal(ours, theirs)
        for replay in (first, second):
            replay.learned(batches[0].places, np.arange(16.0))
            replay.add(rows(100 + number, 200 + number))
    assert first.added == second.added
