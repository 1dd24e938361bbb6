"""Random games and random positions late enough for plain negamax."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import zermelo as z
from support.oracle.lines import LineRules, State
from support.oracle.negamax import Negamax, TooManyStates
from zermelo.core.position import Position

KINDS = ("small", "row", "pie", "large", "narrow")
_MAX_STATES = 1_500  # the effort that one position may cost the oracle
_MAX_TRIES = 30
_WINS = (2, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 7)
_KEEP_DECIDED = 0.05  # the share of positions kept that the next move can end or must end


@dataclass(frozen=True)
class Sample:
    """A position of the package and what the oracle knows about it."""

    rules: LineRules
    solver: Negamax
    state: State
    position: Position
    scores: dict[int, int]  #: the score of every action


def random_rules(kind: str, rng: random.Random) -> LineRules:
    """Random parameters of a line game; "large" and "narrow" boards have more than 64 cells."""
    while True:
        if kind == "row":
            rows, cols = rng.choice(((1, rng.randint(2, 20)), (rng.randint(2, 20), 1)))
        elif kind == "pie":
            rows, cols = rng.randint(1, 3), rng.randint(2, 4)
        elif kind == "narrow":
            rows, cols = rng.sample((rng.randint(4, 6), rng.randint(11, 20)), 2)
        else:
            rows, cols = rng.randint(2, 16), rng.randint(2, 16)
        longest = max(rows, cols)
        limit = 64 - (kind == "pie")
        if (rows * cols > limit) != (kind in ("large", "narrow")) or longest < 2:
            continue
        win = rng.choice([length for length in _WINS if length <= longest])
        return LineRules(
            rows,
            cols,
            win,
            lose=rng.choice((0, rng.randrange(win))),
            gravity=kind not in ("pie",) and rng.random() < 0.3,
            overline=rng.choice(("any", "exact")),
            pie=kind == "pie",
        )


def line_samples(kind: str, count: int, seed: int, games: int) -> Iterator[Sample]:
    """Positions of random line games, about the same number of each game."""
    rng = random.Random(f"{kind} {seed}")
    while count > 0:
        rules = random_rules(kind, rng)
        game, solver = z.game(rules.spec), Negamax(rules, _MAX_STATES)
        wanted = min(count, max(1, count // max(1, games)))
        games -= 1
        tries = _MAX_TRIES + wanted
        while wanted > 0 and tries > 0:
            tries -= 1
            for state, history in random_states(rules, rng):
                if is_decided(rules, state) and rng.random() > _KEEP_DECIDED:
                    continue
                try:
                    scores = solver.scores(state)
                except TooManyStates:
                    continue
                position = to_position(game, rules, state, history, rng)
                yield Sample(rules, solver, state, position, scores)
                wanted, count = wanted - 1, count - 1
                if wanted == 0:
                    break


def random_states(rules: LineRules, rng: random.Random) -> list[tuple[State, list[int]]]:
    """The last states of a random game in which no move ends the game while another does not."""
    state: State = rules.initial()
    history: list[int] = []
    path = [(state, list(history))]
    while True:
        actions = rules.actions(state)
        rng.shuffle(actions)
        for action in actions:
            after, end = rules.play(state, action)
            if end is None:
                break
        else:
            break
        state, history = after, [*history, action]
        path.append((state, history))
    last = rng.randint(1, 8)
    return path[-last:]


def is_decided(rules: LineRules, state: State) -> bool:
    """Whether the side to move can win immediately, or only has moves that end the game."""
    ends = [rules.play(state, action)[1] for action in rules.actions(state)]
    return 1 in ends or None not in ends


def to_position(
    game: z.Game, rules: LineRules, state: State, history: list[int], rng: random.Random
) -> Position:
    """The position by its moves or, half of the time, by its board."""
    if rng.random() < 0.5:
        position = game.start()
        for action in history:
            position = position.play_action(action)
        return position
    board = rules.board(state)
    return game.position(board, state[2], unchecked=rules.gravity)


def position_of_board(rules: LineRules, state: Any) -> Position:
    return z.game(rules.spec).position(rules.board(state), state[2], unchecked=True)
