"""Evaluation sets: arrays of labelled positions in which the mistakes of a policy are counted."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from zermelo.core.game import WordGame
from zermelo.grading import position_sets
from zermelo.grading.graph import GameGraph
from zermelo.grading.oracle import MoveValues
from zermelo.grading.position_sets import LabelledPosition


@dataclass(frozen=True)
class EvaluationSet:
    """States, and the actions that preserve their values. They are never used for training."""

    states: np.ndarray  #: [row, word]
    value_preserving: np.ndarray  #: [row, action]

    def mistake_rate(self, actions: np.ndarray) -> float:
        """Return the share of actions, one for each state, that lower the value of their state."""
        return float(1.0 - self.value_preserving[np.arange(len(actions)), actions].mean())


def build_evaluation_set(game: WordGame) -> EvaluationSet | None:
    """Return all states of a small game, or the shipped positions of a larger game, if any."""
    graph = GameGraph.build(game)
    if graph is not None:
        states = graph.nonterminal
        return _to_arrays(game, ((state, graph.evaluate_moves(state)) for state in states))
    shipped = position_sets.load_shipped(game).values()
    return _to_arrays(game, (row for positions in shipped for row in _labelled(positions)))


def load_evaluation_sets(
    game: WordGame, files: Sequence[Path]
) -> Iterator[tuple[str, EvaluationSet]]:
    """Yield (name, evaluation set) for each file of labelled positions.

    If no files are given, yield the sets of positions that are shipped for the game. If there are
    none and the game is small, yield one set named "all" that contains all its states.
    """
    position_lists = (
        {path.stem: position_sets.read(path, game) for path in files}
        if files
        else position_sets.load_shipped(game)
    )
    sets = {name: _to_arrays(game, _labelled(part)) for name, part in position_lists.items()}
    for name, evaluation_set in (sets or {"all": build_evaluation_set(game)}).items():
        if evaluation_set is not None:
            yield name, evaluation_set


def _labelled(positions: Iterable[LabelledPosition]) -> Iterator[tuple[object, MoveValues]]:
    return ((one.position.state, one.move_values) for one in positions if one.move_values)


def _to_arrays(
    game: WordGame, labelled: Iterable[tuple[object, MoveValues]]
) -> EvaluationSet | None:
    rows = list(labelled)
    if not rows:
        return None
    value_preserving: np.ndarray = np.zeros((len(rows), game.num_actions), np.bool_)
    for row, (_state, move_values) in enumerate(rows):
        value_preserving[row, list(move_values.value_preserving)] = True
    return EvaluationSet(np.array([state for state, _ in rows], np.uint64), value_preserving)
