"""Random games and random positions late enough for plain negamax."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

import zermelo as z
from support.oracle.claims import Truth
from support.oracle.lines import LineRules, State
from support.oracle.negamax import Negamax, TooManyStates
from zermelo.core.position import Position

#: kinds of line games: "large" and "narrow" boards have more than 64 cells
KINDS = ("small", "row", "pie", "large", "narrow")
MAX_STATES = 1_000  #: the number of states that the oracle may visit for one position
_MAX_TRIES = 30
_WINS = (2, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 7)
_DECIDED_SHARE = 0.05  # the share kept of positions that the next move can win or must end


@dataclass(frozen=True)
class Sample:
    """A position of the package, and what the oracle knows about it."""

    position: Position
    truth: Truth


def random_rules(kind: str, rng: random.Random) -> LineRules:
    """Random parameters of a line game of one kind."""
    is_large, is_pie = kind in ("large", "narrow"), kind == "pie"
    while True:
        if kind == "row":
            rows, cols = rng.choice(((1, rng.randint(2, 20)), (rng.randint(2, 20), 1)))
        elif is_pie:
            rows, cols = rng.randint(1, 3), rng.randint(2, 4)
        elif kind == "narrow":
            rows, cols = rng.sample((rng.randint(4, 6), rng.randint(11, 20)), 2)
        else:
            rows, cols = rng.randint(2, 16), rng.randint(2, 16)
        if (rows * cols > 64) == is_large:
            break
    win = rng.choice([length for length in _WINS if length <= max(rows, cols)])
    return LineRules(
        rows,
        cols,
        win,
        lose=rng.choice((0, rng.randrange(win), max(0, win - 2))),
        gravity=not is_pie and rng.random() < 0.3,
        overline=rng.choice(("any", "exact")),
        pie=is_pie,
    )


def line_samples(kind: str, count: int, seed: int, num_games: int) -> Iterator[Sample]:
    """Yield `count` positions of about `num_games` random line games of one kind."""
    rng = random.Random(f"{kind} {seed}")
    share = max(1, count // num_games)
    while count > 0:
        rules = random_rules(kind, rng)
        wanted = min(share, count)
        for sample in _game_samples(rules, wanted, rng):
            count -= 1
            yield sample


def _game_samples(rules: LineRules, wanted: int, rng: random.Random) -> Iterator[Sample]:
    """Yield at most `wanted` positions of one game; some games have few that are late enough."""
    game, solver = z.game(rules.spec), Negamax(rules, MAX_STATES)
    for _ in range(_MAX_TRIES + wanted):
        for state, history in _late_states(rules, rng):
            if is_decided(rules, state) and rng.random() > _DECIDED_SHARE:
                continue
            try:
                scores = solver.scores(state)
            except TooManyStates:
                continue
            truth = Truth(solver, state, scores, rules.text, rules)
            yield Sample(_to_position(game, rules, state, history, rng), truth)
            wanted -= 1
            if wanted == 0:
                return


def _late_states(rules: LineRules, rng: random.Random) -> list[tuple[State, list[int]]]:
    """Return the last states of a random game, with the actions that lead to them.

    No move ends the game as long as another does not. Sometimes the sides do not alternate, as on
    a board set up by hand; then there is no list of actions.
    """
    state, history = rules.initial(), list[int]()
    path = [(state, history)]
    is_by_hand = not rules.pie and rng.random() < 0.2
    order = list(range(rules.size))
    rng.shuffle(order)
    while True:
        if rules.gravity or rules.pie:
            order = rules.actions(state)
            rng.shuffle(order)
        for action in order:
            after, end = rules.play(state, action)
            if end is None:
                break
        else:
            break
        if not rules.gravity:
            order.remove(action)
        if is_by_hand and rng.random() < 0.2:
            after = (after[0], after[1], 1 - after[2])
        state, history = after, [*history, action]
        path.append((state, history))
    return [(s, [] if is_by_hand else h) for s, h in path[-rng.randint(1, 8) :]]


def is_decided(rules: LineRules, state: State) -> bool:
    """Return whether the side to move can win immediately, or only has moves that end the game."""
    ends = [rules.play(state, action)[1] for action in rules.actions(state)]
    return 1 in ends or None not in ends


def _to_position(
    game: z.Game, rules: LineRules, state: State, history: list[int], rng: random.Random
) -> Position:
    """Return the position by its moves or, half of the time, by its board."""
    if history and rng.random() < 0.5:
        position = game.start()
        for action in history:
            position = position.play_action(action)
        return position
    is_unchecked = not history or rules.gravity  # the check with gravity can take a second
    return game.position(rules.board(state), state[2], unchecked=is_unchecked)
