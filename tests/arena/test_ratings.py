"""Ratings, their intervals and the sequential test, against known values and by simulation."""

import math
import random
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from zermelo.arena.ratings import rate_players
from zermelo.arena.sprt import BOUND, SequentialTest, expected_score


def openings(wins: int, draws: int, losses: int) -> Counter[tuple[int, int]]:
    """Return games that are an opening each."""
    return Counter({(2, 1): wins, (1, 1): draws, (0, 1): losses})


def difference(score: float) -> float:
    return -400 * math.log10(1 / score - 1)


@pytest.mark.parametrize(
    ("wins", "draws", "losses", "elo"),
    [(7500, 0, 2500, 191), (5000, 5000, 0, 191), (10, 80, 10, 0), (6400, 0, 3600, 100)],
)
def test_two_players(wins: int, draws: int, losses: int, elo: int) -> None:
    one, other = rate_players(2, {(0, 1): openings(wins, draws, losses)})
    assert one.rating - other.rating == pytest.approx(elo, abs=0.5)
    assert one.rating == pytest.approx(-other.rating)
    assert one.games == other.games == wins + draws + losses
    assert one.low < one.rating < one.high


def test_three_players_with_consistent_scores() -> None:
    """A difference of 100 Elo is a score of 64%, one of 200 Elo a score of 76%."""
    near, far = round(10_000 * expected_score(100)), round(10_000 * expected_score(200))
    ratings = rate_players(
        3,
        {
            (0, 1): openings(near, 0, 10_000 - near),
            (1, 2): openings(near, 0, 10_000 - near),
            (0, 2): openings(far, 0, 10_000 - far),
        },
    )
    assert [r.rating for r in ratings] == pytest.approx([100, 0, -100], abs=0.2)


def test_the_mean_is_zero_and_the_numbering_does_not_matter() -> None:
    by_pair = {(0, 1): openings(5, 3, 2), (0, 2): openings(9, 0, 1), (1, 2): openings(4, 4, 2)}
    ratings = rate_players(3, by_pair)
    assert sum(r.rating for r in ratings) == pytest.approx(0, abs=1e-6)
    renumbered = {
        (2, 1): openings(5, 3, 2),
        (2, 0): openings(9, 0, 1),
        (1, 0): openings(4, 4, 2),
    }
    again = rate_players(3, renumbered)
    assert [r.rating for r in again[::-1]] == pytest.approx([r.rating for r in ratings])


def test_all_wins_stay_finite_and_uncertain() -> None:
    one, other = rate_players(2, {(0, 1): Counter({(4, 2): 50})})
    gap, low = one.rating - other.rating, 2 * one.low
    assert gap == pytest.approx(difference(100.5 / 101), abs=0.1)  # with one more drawn game
    # 100 wins in 100 games exclude a true score below 96.4%, which is 570 Elo.
    assert 400 < low < 600
    (unrated,) = {r.rating for r in rate_players(3, {})}
    assert unrated == 0


def test_the_two_games_of_an_opening_are_one_observation() -> None:
    """Playing every game twice adds nothing; openings that both sides win are precise."""
    single = rate_players(2, {(0, 1): openings(60, 0, 40)})[0]
    doubled = rate_players(2, {(0, 1): Counter({(4, 2): 60, (0, 2): 40})})[0]
    even = rate_players(2, {(0, 1): Counter({(2, 2): 80, (4, 2): 20})})[0]
    assert doubled.high - doubled.low == pytest.approx(single.high - single.low, rel=0.05)
    assert even.high - even.low < (single.high - single.low) / 2


def pairs(
    rng: np.random.Generator, elo: float, number: int, draws: float, bias: float
) -> list[int]:
    """Sample the half points of openings that are biased by some Elo, from both sides."""
    favour = rng.normal(0, bias, number)
    halves = np.zeros(number, int)
    for sign in (1, -1):
        win = 1 / (1 + 10 ** (-(elo + sign * favour) / 400))
        draw = draws * 2 * np.minimum(win, 1 - win)
        sample = rng.random(number)
        halves += np.where(sample < win - draw / 2, 2, np.where(sample < win + draw / 2, 1, 0))
    return halves.tolist()


@pytest.mark.parametrize("games", [20, 100])
@pytest.mark.parametrize(
    ("elo", "draws", "bias"), [(0, 0, 0), (0, 0.6, 0), (200, 0.3, 300), (500, 0.3, 0)]
)
def test_intervals_contain_the_truth_95_times_in_100(
    games: int, elo: float, draws: float, bias: float
) -> None:
    rng = np.random.default_rng(0)
    sample = pairs(rng, elo, 2_000_000, draws, bias)
    truth = difference(sum(sample) / 4 / len(sample)) / 2
    hits, number = 0, 500
    for _ in range(number):
        openings_played = Counter((half, 2) for half in pairs(rng, elo, games // 2, draws, bias))
        rating = rate_players(2, {(0, 1): openings_played})[0]
        hits += rating.low <= truth <= rating.high
    assert 0.925 <= hits / number <= (0.99 if games > 20 else 1.0), hits / number


def test_intervals_of_a_round_robin() -> None:
    rng = np.random.default_rng(1)
    strength = [150.0, 20.0, -50.0, -120.0]
    hits, number = 0, 150
    for _ in range(number):
        by_pair = {
            (a, b): Counter((half, 2) for half in pairs(rng, strength[a] - strength[b], 20, 0.3, 0))
            for a in range(4)
            for b in range(a + 1, 4)
        }
        ratings = rate_players(4, by_pair)
        hits += sum(r.low <= s <= r.high for r, s in zip(ratings, strength, strict=True))
    assert 0.925 <= hits / number / 4 <= 0.985


def run_tests(rng: random.Random, elo: float, draws: float) -> Iterator[tuple[int | None, int]]:
    """Yield the decisions of tests of 0 against 100 Elo, and their numbers of openings."""
    win = expected_score(elo)
    draw = draws * 2 * min(win, 1 - win)
    weights = (1 - win - draw / 2, draw, win - draw / 2)
    while True:
        test = SequentialTest(0, 100)
        while test.accepted is None:
            test.add(sum(rng.choices((0, 1, 2), weights, k=2)))
        yield test.accepted, sum(test.counts)


@pytest.mark.parametrize("draws", [0.0, 0.6])
@pytest.mark.parametrize("truth", [0, 1])
def test_the_sequential_test_errs_once_in_20(truth: int, draws: float) -> None:
    runs = run_tests(random.Random(truth), 100 * truth, draws)
    decisions = [next(runs) for _ in range(250)]
    errors = sum(accepted != truth for accepted, _ in decisions) / len(decisions)
    assert 0.01 <= errors <= 0.085, errors
    assert sum(number for _, number in decisions) / len(decisions) < 80


def test_the_sequential_test_is_symmetric() -> None:
    up, down = SequentialTest(-50, 50), SequentialTest(-50, 50)
    assert up.llr == 0
    for half in (4, 3, 2, 4, 1, 3):
        up.add(half)
        down.add(4 - half)
    assert up.llr == pytest.approx(-down.llr)
    assert up.llr > 0
    assert up.accepted is None
    assert pytest.approx(2.944, abs=0.001) == BOUND


def test_openings_without_variance_are_decided() -> None:
    """All openings end 1-1: the score is even, which favours 0 and never 50 Elo."""
    test = SequentialTest(0, 50)
    for _ in range(200):
        test.add(2)
    assert test.accepted == 0
