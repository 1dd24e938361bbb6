"""Check what the package claims about a position: value, distance, best moves, lines, reasons.

Each check raises AssertionError with the claim. `Truth` is what the oracle knows.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from support.oracle.lines import LineRules
from support.oracle.negamax import Negamax, plies, sign
from zermelo.core.player import Analysis, Candidate, Reason
from zermelo.search.explain.review import ReviewedMove
from zermelo.search.solver.solution import Solution

VALUES = {1: "win", 0: "draw", -1: "loss"}


@dataclass(frozen=True)
class Truth:
    """A state of one game with the score of every action."""

    solver: Negamax
    state: Any
    scores: dict[int, int]
    to_text: Callable[[int], str]
    lines: LineRules | None = None  #: for line games, whose threats can be checked

    @property
    def best_score(self) -> int:
        return max(self.scores.values())

    @property
    def best(self) -> set[str]:
        return {self.to_text(a) for a, s in self.scores.items() if s == self.best_score}

    def score_of(self, move: str) -> int:
        return self.scores[self.action(self.state, move)]

    def action(self, state: Any, move: str) -> int:
        """The legal action that a move names."""
        actions = {self.to_text(a): a for a in self.solver.rules.actions(state)}
        assert move in actions, f"{move} is not legal"
        return actions[move]

    def replay(self, line: Sequence[str]) -> list[tuple[Any, int, int | None]]:
        """Every step of a line as (state before it, action, how it ended); check legality."""
        state, end, steps = self.state, None, []
        for move in line:
            assert end is None, f"{' '.join(line)}: the game is over before {move}"
            action = self.action(state, move)
            before = state
            state, end = self.solver.rules.play(state, action)
            steps.append((before, action, end))
        return steps

    def wins_at_once(self, line: Sequence[str]) -> bool:
        """Whether the last move of a line wins for the side that makes it."""
        return self.replay(line)[-1][2] == 1


def check_solution(truth: Truth, solution: Solution) -> None:
    """Check a solution; what it leaves open is not checked."""
    assert set(solution.best) <= {truth.to_text(a) for a in truth.scores}
    truth.replay(solution.pv)
    if not solution.exact:
        assert solution.value is None
        assert solution.plies is None
        return
    assert solution.value == VALUES[sign(truth.best_score)]
    for move in solution.best:
        assert sign(truth.score_of(move)) == sign(truth.best_score), f"{move} is no best move"
    if solution.complete:
        assert set(solution.best) == truth.best
    if solution.plies is not None:
        assert solution.plies == plies(truth.best_score)
        check_best_play(truth, solution.pv, truth.best_score)


def check_best_play(truth: Truth, line: Sequence[str], score: int) -> None:
    """Check that a line ends the game exactly when a win or loss of this score does."""
    steps = truth.replay(line)
    assert len(line) == plies(score), f"{' '.join(line)} does not take {plies(score)} plies"
    assert steps[-1][2] is not None
    for state, action, _ in steps[1:]:
        best = max(truth.solver.after(state, a) for a in truth.solver.rules.actions(state))
        assert truth.solver.after(state, action) == best, f"{' '.join(line)} is not best play"


def check_analysis(truth: Truth, analysis: Analysis) -> None:
    """Check the root, every candidate and every reason of an analysis."""
    moves = [candidate.move for candidate in analysis.candidates]
    assert sorted(moves) == sorted(truth.to_text(action) for action in truth.scores)
    truth.replay(analysis.pv)
    if analysis.exact:
        assert analysis.value == VALUES[sign(truth.best_score)]
        assert sign(truth.score_of(analysis.move)) == sign(truth.best_score)
    if analysis.exact and analysis.plies is not None:
        assert analysis.plies == plies(truth.best_score)
        assert analysis.move in truth.best
    for candidate in analysis.candidates:
        check_candidate(truth, candidate)
    if all(c.exact and (c.plies is not None or c.value == "draw") for c in analysis.candidates):
        assert {c.move for c in analysis.candidates if c.best} == truth.best


def check_candidate(truth: Truth, candidate: Candidate) -> None:
    score = truth.score_of(candidate.move)
    truth.replay(candidate.pv)
    assert candidate.pv[0] == candidate.move
    if candidate.exact:
        assert candidate.value == VALUES[sign(score)]
    if candidate.plies is not None:
        assert candidate.plies == plies(score)
        check_best_play(truth, candidate.pv, score)
    for reason in candidate.reasons:
        check_reason(truth, candidate.move, reason)


def check_reviewed_move(truth: Truth, reviewed: ReviewedMove) -> None:
    """Check the verdict on a played move, with `truth` of the position before it."""
    assert reviewed.move is not None
    own = sign(truth.score_of(reviewed.move))
    if reviewed.exact:
        player_sign = 1 if reviewed.player == 0 else -1
        assert reviewed.estimate == own * player_sign
    if reviewed.mistake == "mistake":
        assert own < sign(truth.best_score)
    elif reviewed.exact and reviewed.mistake is None and reviewed.better is None:
        assert own <= sign(truth.best_score)
    for reason in reviewed.reasons:
        check_reason(truth, reviewed.move, reason)
    if reviewed.better is not None:
        check_candidate(truth, reviewed.better)


def check_reason(truth: Truth, move: str, reason: Reason) -> None:
    """Check the claim of a reason: replay its line, and compare its text with the scores."""
    assert reason.line
    truth.replay(reason.line)
    check = _CHECKS[reason.kind]
    assert check(truth, move, reason), f"{move}: {reason.kind}: {reason.text}: {reason.line}"


def _ends(end: int) -> Callable[[Truth, str, Reason], bool]:
    def check(truth: Truth, move: str, reason: Reason) -> bool:
        return reason.line == (move,) and truth.replay((move,))[0][2] == end

    return check


def _wins(truth: Truth, move: str, reason: Reason) -> bool:
    score = truth.score_of(move)
    own_moves = ((plies(score) or 0) + 1) // 2
    match = re.fullmatch(r"wins by force( in (\d+) moves?)?", reason.text)
    assert match
    return score > 0 and reason.line[0] == move and (not match[2] or int(match[2]) == own_moves)


def _forced(truth: Truth, move: str, reason: Reason) -> bool:
    score = truth.score_of(move)
    match = re.fullmatch(r"wins by force within (\d+) moves?(, by [a-z ]+ only)?", reason.text)
    assert match
    if match[2]:
        _check_immediate_threats(truth, reason.line, start=0)
    own_moves = ((plies(score) or 0) + 1) // 2
    return score > 0 and reason.line[0] == move and own_moves <= int(match[1])


def _check_immediate_threats(truth: Truth, line: Sequence[str], start: int) -> None:
    """Check that every second move of a line, except the last, threatens to win immediately."""
    assert truth.lines is not None
    for state, action, end in truth.replay(line)[start::2]:
        after, _ = truth.lines.play(state, action)
        wins = (truth.lines.wins_if_moved(after, state[2], a) for a in truth.lines.actions(after))
        assert end is not None or any(wins), f"{' '.join(line)} does not consist of threats"


def _only_move(truth: Truth, move: str, reason: Reason) -> bool:
    own = sign(truth.score_of(move))
    others = [sign(s) for a, s in truth.scores.items() if truth.to_text(a) != move]
    if reason.text == "is the only legal move":
        return not others
    expected = {"is the only move that wins": 1, "is the only move that does not lose": 0}
    return own == expected[reason.text] and all(other < own for other in others)


def _blocks(truth: Truth, move: str, reason: Reason) -> bool:
    assert truth.lines is not None
    other, threat = reason.line
    assert other != move
    assert truth.wins_at_once(reason.line)
    name = f"column {threat}" if truth.lines.gravity else threat
    assert reason.text == f"blocks the threat at {name}"
    state, action, end = truth.replay((move,))[0]
    assert end is None
    after, _ = truth.lines.play(state, action)
    replies = {truth.to_text(a): a for a in truth.lines.actions(after)}
    return threat not in replies or truth.lines.play(after, replies[threat])[1] != 1


def _threats(truth: Truth, move: str, reason: Reason) -> bool:
    """The cells in the text are exactly those where the mover would win if it moved again."""
    assert truth.lines is not None
    assert reason.line[0] == move
    assert truth.wins_at_once(reason.line)
    state, action, _ = truth.replay((move,))[0]
    after, _ = truth.lines.play(state, action)
    wins = [a for a in truth.lines.actions(after) if truth.lines.wins_if_moved(after, state[2], a)]
    prefix = "column " if truth.lines.gravity else ""
    names = [prefix + truth.to_text(action) for action in wins]
    if reason.kind == "threat":
        return names == [reason.text.removeprefix("threatens to win at ")]
    number = {2: "two", 3: "three", 4: "four"}.get(len(names), str(len(names)))
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    return reason.text == f"makes {number} threats, at {listed}"


def _lets_win(truth: Truth, move: str, reason: Reason) -> bool:
    score = truth.score_of(move)
    assert score < 0
    assert reason.line[0] == move
    match = re.fullmatch(r". then wins immediately with (\S+)", reason.text)
    if match:
        return reason.line == (move, match[1]) and truth.wins_at_once(reason.line)
    match = re.fullmatch(
        r". then wins by force( in (\d+) moves?| within (\d+) moves?)?(, by [a-z ]+ only)?"
        r", starting with (\S+)",
        reason.text,
    )
    assert match
    if match[4]:
        _check_immediate_threats(truth, reason.line, start=1)
    their_moves = (plies(score) or 0) // 2
    state, action, _ = truth.replay(reason.line)[1]
    assert truth.solver.after(state, action) > 0, f"{reason.line[1]} does not win"
    return (
        reason.line[1] == match[5]
        and (not match[2] or int(match[2]) == their_moves)
        and (not match[3] or int(match[3]) >= their_moves)
    )


def _keeps_draw(truth: Truth, move: str, reason: Reason) -> bool:
    assert reason.text == "keeps the draw"
    return truth.score_of(move) == 0 and min(truth.scores.values()) < 0


def _gives_away(truth: Truth, move: str, reason: Reason) -> bool:
    better = reason.line[0]
    assert reason.text == f"gives away the win: {better} wins"
    return truth.score_of(move) == 0 and truth.score_of(better) > 0


def _loses_slower(truth: Truth, move: str, reason: Reason) -> bool:
    own = truth.score_of(move)
    others = [score for action, score in truth.scores.items() if truth.to_text(action) != move]
    assert own < 0
    assert own > min(others)
    if reason.text == "loses more slowly than the others":
        return own > max(others)
    return reason.text == "no other move holds out longer" and own == max(others)


def _forces_pass(truth: Truth, move: str, reason: Reason) -> bool:
    state, action, _ = truth.replay((move,))[0]
    after, _ = truth.solver.rules.play(state, action)
    return [truth.to_text(a) for a in truth.solver.rules.actions(after)] == ["pass"]


_CHECKS = {
    "wins-now": _ends(1),
    "loses-now": _ends(-1),
    "draws-now": _ends(0),
    "wins": _wins,
    "forced": _forced,
    "only-move": _only_move,
    "blocks": _blocks,
    "two-threats": _threats,
    "threat": _threats,
    "lets-win": _lets_win,
    "keeps-draw": _keeps_draw,
    "gives-away": _gives_away,
    "loses-slower": _loses_slower,
    "forces-pass": _forces_pass,
}
