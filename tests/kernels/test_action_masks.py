"""Masks of actions give the same answers compiled and in plain Python, with one word or more."""

import random
from typing import Any

import numpy as np
import pytest

from zermelo.core.game import WordGame
from zermelo.kernels.compiler import compile_kernel
from zermelo.kernels.registry import kernel


class Wide(WordGame):
    """A game of one move whose legal actions are given by its constants."""

    def __init__(self, num_actions: int) -> None:
        self.num_actions, self.spec = num_actions, f"wide{num_actions}"

    def initial(self) -> Any:
        return (0, 0, 0)

    def legal(self, state: Any) -> Any:
        del state
        return self.no_actions()

    def play(self, state: Any, action: Any) -> Any:
        del action
        return state

    def result(self, state: Any) -> Any:
        del state
        return False, 0


@kernel("uint64[:,::1], int64, int64[::1], uint64[:,::1]", common=False)
def use_masks(game: WordGame, masks: Any, added: Any, out: Any, stored: Any) -> Any:
    """Write what the methods say about the mask in masks[0] to `out`, and two masks to `stored`."""
    mask = game.load_mask(masks, 0, 0)
    out[0] = game.is_empty(mask)
    out[1] = game.count_actions(mask)
    out[2] = game.is_empty(game.no_actions())
    larger = game.with_action(mask, added)
    game.store_mask(stored, 0, 1, larger)
    out[3] = game.lowest_action(larger)
    out[4] = game.select_action(larger, game.count_actions(larger) - 1)
    game.store_mask(stored, 1, 1, game.without_lowest(larger))
    place = 5
    while not game.is_empty(larger):
        out[place] = game.lowest_action(larger)
        larger = game.without_lowest(larger)
        place += 1
    return place


@pytest.mark.parametrize("num_actions", [9, 64, 65, 66, 128, 129, 192, 300])
def test_compiled_masks_equal_plain_ones(num_actions: int) -> None:
    game = Wide(num_actions)
    run = compile_kernel(use_masks, game)
    rng = random.Random(num_actions)
    bits = min(num_actions, 64 * game.num_masks)
    for density in (0.0, 0.02, 0.3, 1.0):
        actions = {a for a in range(bits) if rng.random() < density}
        joined = sum(1 << a for a in actions)
        words = [joined >> 64 * place & (1 << 64) - 1 for place in range(game.num_masks)]
        added = rng.randrange(bits)
        results = []
        for function in (run, lambda *arguments: use_masks(game, *arguments)):
            out: np.ndarray = np.full(num_actions + 6, -1, np.int64)
            stored: np.ndarray = np.zeros((2, game.num_masks + 1), np.uint64)
            place = function(np.array([words], np.uint64), added, out, stored)
            results.append((place, out.tolist(), stored.tolist()))
        assert results[0] == results[1]
        place, out_list, stored_list = results[0]
        assert out_list[:3] == [not actions, len(actions), True]
        assert out_list[5:place] == sorted(actions | {added})
        assert out_list[3:5] == [min(actions | {added}), max(actions | {added})]
        without = sum(int(part) << 64 * i for i, part in enumerate(stored_list[1][1:]))
        expected = joined | 1 << added
        assert without == expected & (expected - 1)


def test_a_pass_needs_no_second_word() -> None:
    assert [Wide(n).num_masks for n in (1, 64, 65, 66, 128, 129)] == [1, 1, 1, 2, 2, 3]
