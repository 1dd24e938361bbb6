"""Exams: the graded positions of a game as arrays, to mark a policy quickly on the way."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from zermelo.contract import WordGame
from zermelo.grading import sets
from zermelo.grading.graph import Graph


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
    graph = Graph.of(game)
    if graph is not None:
        graded = [(state, graph.judge(state)) for state in graph.running]
    else:
        shipped = sets.shipped(game).values()
        graded = [(g.position.state, g.verdict) for part in shipped for g in part if g.verdict]
    if not graded:
        return None
    keeping = np.zeros((len(graded), game.num_actions), np.bool_)
    for row, (_state, verdict) in enumerate(graded):
        keeping[row, list(verdict.keeping)] = True
    return Exam(np.array([state for state, _ in graded], np.uint64), keeping)
