"""Exams: the graded positions of a game as arrays, to mark a policy quickly on the way."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from zermelo.core.game import WordGame
from zermelo.grading import position_sets
from zermelo.grading.graph import GameGraph


@dataclass(frozen=True)
class Exam:
    """States, and which of their moves keep the value. The answers mark, they never teach."""

    states: Any  #: [row, word]
    keeping: Any  #: [row, action]

    def mistakes(self, actions: Any) -> float:
        """The share of states where the action lowers the value."""
        return float(1.0 - self.keeping[np.arange(len(actions)), actions].mean())


def exam_for(game: WordGame) -> Exam | None:
    """All states of a small game, else its shipped sets; None where there are none."""
    graph = GameGraph.build(game)
    if graph is not None:
        return _exam(game, [(state, graph.evaluate_moves(state)) for state in graph.nonterminal])
    parts = [part for part in position_sets.load_shipped(game).values() if part]
    return _exam(game, [graded for part in parts for graded in _labelled(part)])


def read(game: WordGame, files: Sequence[Path]) -> Iterator[tuple[str, Exam]]:
    """(name, exam) of each label file; without files of each shipped set, or of all states."""
    found = (
        {path.stem: position_sets.read(path, game) for path in files}
        if files
        else position_sets.load_shipped(game)
    )
    exams = {name: _exam(game, list(_labelled(part))) for name, part in found.items()}
    for name, exam in (exams or {"all": exam_for(game)}).items():
        if exam is not None:
            yield name, exam


def _labelled(part: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    return ((one.position.state, one.move_values) for one in part if one.move_values)


def _exam(game: WordGame, graded: list[tuple[Any, Any]]) -> Exam | None:
    if not graded:
        return None
    keeping = np.zeros((len(graded), game.num_actions), np.bool_)
    for row, (_state, verdict) in enumerate(graded):
        keeping[row, list(verdict.value_preserving)] = True
    return Exam(np.array([state for state, _ in graded], np.uint64), keeping)
