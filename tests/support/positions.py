"""Positions to test on."""

import random
from typing import Any

import zermelo as z
from zermelo.core.bitboard import bits


def late_state(game: z.WordGame, free: int, rng: random.Random) -> Any:
    """Return a state that is not over with few free cells, so that the textbook can solve it.

    Most random games end earlier; moves that `resolve` leaves out are avoided to get there.
    """
    fewest, latest = 99, game.initial()
    for _ in range(300):
        state = game.initial()
        while not game.result(state)[0]:
            board = game.board(state)
            assert board is not None
            if board.count(0) < fewest:
                fewest, latest = board.count(0), state
            if fewest <= free:
                return latest
            known, _, mask = game.hooks.resolve(state)
            if known or not mask:
                state = game.play(state, rng.choice(game.actions(state)))
            else:
                state = game.hooks.play_index(state, rng.choice(bits(mask)))
    return latest


def reachable_states(game: z.Game) -> list[Any]:
    """Return all states that play can reach, sorted."""
    seen, pending = set(), [game.initial()]
    while pending:
        state = pending.pop()
        if state not in seen:
            seen.add(state)
            pending += [game.play(state, action) for action in game.actions(state)]
    return sorted(seen)
