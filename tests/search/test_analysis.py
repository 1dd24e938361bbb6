"""Analysis: the value of every move, and reasons, each of which a naive search confirms."""

import random
import re
import time
from typing import Any

import pytest

import zermelo as z
from support.commands import answer, zermelo
from support.positions import late_state
from zermelo.core.player import Limit
from zermelo.search import textbook
from zermelo.search.explain.analysis import Analyst
from zermelo.search.explain.reasons import KINDS, EvaluatedMove, RuleFacts, find_reasons
from zermelo.search.large.engine import BoardEngine
from zermelo.search.mcts.tree import MCTSTree


class NaiveEvaluation:
    """Minimax for every move: (sign, plies to the end) for the side that makes it."""

    def __init__(self, position: z.Position) -> None:
        self.position = position
        self.search = textbook.TextbookSearch(position.game, method="both", distance=True)

    def after(self, position: z.Position, move: str) -> tuple[int, int]:
        child = position.play(move)
        value = -self.search.solve(child.state)
        sign = (value > 0) - (value < 0)
        return sign, textbook.WIN_SCORE - abs(value) + 1

    def all(self) -> dict[str, tuple[int, int]]:
        return {move: self.after(self.position, move) for move in self.position.legal}


def winning_moves(position: z.Position, player: int) -> set[str]:
    """Return the moves with which a player would win immediately if it were that player's turn."""
    assert position.board is not None
    passed = position.game.position(position.board, player, unchecked=True)
    return {m for m in passed.legal if wins(passed.play(m), player)}


def wins(position: z.Position, player: int) -> bool:
    return position.outcome is not None and position.outcome.winner == player


def walk(position: z.Position, line: tuple[str, ...]) -> z.Position:
    for move in line:
        position = position.play(move)  # checks that it is legal
    return position


def confirm(  # noqa: PLR0915 - a case for each kind
    position: z.Position, move: str, reason: z.Reason, values: dict[str, tuple[int, int]]
) -> None:
    """Assert that a reason is true."""
    me = position.player
    sign, plies = values[move]
    end = walk(position, reason.line)
    others = [value for other, value in values.items() if other != move]
    stated = [int(number) for number in re.findall(r" in (\d+) moves?\b", reason.text)]
    match reason.kind:
        case "wins-now":
            assert reason.line == (move,)
            assert wins(end, me)
        case "loses-now":
            assert reason.line == (move,)
            assert wins(end, 1 - me)
        case "draws-now":
            assert reason.line == (move,)
            assert end.outcome == z.Outcome.DRAW
        case "wins":
            assert sign == 1
            assert wins(end, me)
            if position.game.spec.startswith("reversi"):
                discs = abs(sum(end.board or ()))
                assert reason.text == f"wins by {discs} disc{'' if discs == 1 else 's'}"
            else:
                assert plies == len(reason.line)
                assert stated == [(plies + 1) // 2]
        case "lets-win":
            assert sign == -1
            assert wins(end, 1 - me)
            assert reason.line[0] == move
            if "immediately" in reason.text:
                assert len(reason.line) == 2
            elif not position.game.spec.startswith("reversi"):
                assert plies == len(reason.line)
                assert stated == [plies // 2]
            assert reason.text.endswith(reason.line[1])
        case "only-move":
            if "legal" in reason.text:
                assert position.legal == [move]
            else:
                assert sign == ("wins" in reason.text)
                assert all(other[0] < sign for other in others)
        case "keeps-draw":
            assert sign == 0
            assert any(other[0] == -1 for other in others)
        case "gives-away":
            assert sign == 0
            assert values[reason.line[0]][0] == 1
        case "loses-slower":
            assert {value[0] for value in values.values()} == {-1}
            if not position.game.spec.startswith("reversi"):
                assert plies >= max(other[1] for other in others)
                assert plies > min(other[1] for other in others)
                if "than the others" in reason.text:
                    assert plies > max(other[1] for other in others)
        case "blocks":
            other, threat = reason.line
            assert other != move
            assert wins(end, 1 - me)
            child = position.play(move)
            assert threat not in child.legal or not wins(child.play(threat), 1 - me)
            assert threat in winning_moves(position, 1 - me)
        case "threat" | "two-threats":
            assert reason.line[0] == move
            assert len(reason.line) == 3
            assert wins(end, me)
            threats = winning_moves(position.play(move), me)
            assert reason.line[2] in threats
            named = set(re.findall(r"[a-z]\d+|\d+", reason.text.partition(" at ")[2]))
            assert named == threats
            assert (len(threats) > 1) == (reason.kind == "two-threats")
        case "forces-pass":
            assert position.play(move).legal == ["pass"]
        case _:
            raise AssertionError(reason.kind)


SPECS = (
    "tictactoe",
    "mnk:4x3x3",
    "mnk:4x4x3",
    "gomoku6",
    "squava",
    "connect4",
    "gomoku:size=5,overline=exact",
    "line:rows=4,cols=5,win=3,lose=2",
    "line:rows=4,cols=5,win=4,lose=3,gravity=true",
    "reversi:4",
    "reversi:6",
)


def confirm_positions(spec: str, number: int) -> int:
    """Confirm analyses of late positions, with enough time and with hardly any."""
    game, rng, analyst = z.game(spec), random.Random(spec), Analyst()
    assert isinstance(game, z.WordGame)
    confirmed = 0
    for _ in range(number):
        state = late_state(game, rng.randrange(2, 9), rng)
        position = z.Position(game, state, None)
        values = NaiveEvaluation(position).all()
        best = max(values.values(), key=lambda v: (v[0], -v[0] * v[1]))
        for limit in (Limit(), Limit(nodes=20)):
            found = analyst.choose(position, limit)
            assert [c.move for c in found.candidates[:1]] == [found.move]
            assert {c.move for c in found.candidates} == set(position.legal)
            for candidate in found.candidates:
                sign, plies = values[candidate.move]
                if candidate.exact:
                    assert candidate.value == {1: "win", 0: "draw", -1: "loss"}[sign]
                    assert candidate.plies == (plies if sign and game.hooks.ply_cost else None)
                else:
                    assert candidate.estimate is not None
                    assert -1 < candidate.estimate < 1
                for reason in candidate.reasons:
                    assert reason.kind in KINDS
                    confirm(position, candidate.move, reason, values)
                    confirmed += 1
            if limit == Limit():
                assert found.exact
                assert all(c.exact for c in found.candidates)
                assert values[found.move][0] == best[0]
                if game.hooks.ply_cost:
                    expected = {m for m, v in values.items() if v[0] == best[0]}
                    if best[0]:
                        expected = {m for m in expected if values[m] == best}
                    assert {c.move for c in found.candidates if c.best} == expected
    return confirmed


@pytest.mark.parametrize("spec", SPECS)
def test_every_reason_is_true(spec: str) -> None:
    assert confirm_positions(spec, 25) > 50


@pytest.mark.proof
@pytest.mark.parametrize("spec", SPECS)
def test_ten_thousand_positions_without_a_false_reason(spec: str) -> None:
    """11 games of 920 positions each."""
    confirm_positions(spec, 920)


def test_a_false_reason_is_noticed() -> None:
    """The check can fail: each kind, said of a move that it is not true of."""
    position = z.game("tictactoe").position("XX./OO./...")
    values = NaiveEvaluation(position).all()
    for kind, line in (
        ("wins-now", ("a3",)),
        ("wins", ("c2", "c1", "a3", "b3", "c3")),
        ("lets-win", ("c1",)),
        ("only-move", ("c2",)),
        ("keeps-draw", ("a3",)),
        ("gives-away", ("a3", "c2")),
        ("loses-slower", ("a3", "c2")),
        ("blocks", ("a3", "b3")),
        ("threat", ("a3", "c2")),
        ("two-threats", ("a3", "b3", "c1")),
        ("forces-pass", ("a3",)),
        ("draws-now", ("c1",)),
        ("loses-now", ("c1",)),
    ):
        with pytest.raises((AssertionError, z.IllegalMove)):
            confirm(
                position, line[0], z.Reason(kind, "wins by force in 3 moves at c1", line), values
            )


def test_all_kinds_of_reasons_occur() -> None:
    seen: set[str] = set()
    for spec in ("tictactoe", "squava", "reversi:4"):
        game, rng, analyst = z.game(spec), random.Random(2), Analyst()
        assert isinstance(game, z.WordGame)
        for _ in range(60):
            position = z.Position(game, late_state(game, rng.randrange(1, 8), rng), None)
            found = analyst.choose(position)
            seen |= {reason.kind for c in found.candidates for reason in c.reasons}
    assert seen | {"forced"} == set(KINDS)  # that is for large boards: see test_threats


def test_large_boards_get_estimates_and_facts() -> None:
    """An open four is won, a four must be blocked."""
    game = z.game("gomoku")
    position = game.position(moves="h8 a1 h9 b1 h10 o15 h11 c1")
    found = z.analyze(position, Limit(seconds=2))
    assert found.move in ("h7", "h12")
    assert found.candidates[0].reasons[0].kind == "wins-now"
    assert found.exact
    four = game.position(moves="h8 g8 h9 g7 h10 a1 h11")  # white to move: two winning cells
    text = {
        c.move: [r.kind for r in c.reasons] for c in z.analyze(four, Limit(seconds=2)).candidates
    }
    assert "blocks" in text["h7"]


def test_limits_are_kept() -> None:
    position = z.game("connect4:7x7").position(moves="4")  # there is no book of it
    analyst = Analyst()
    analyst.choose(position, Limit(seconds=0.1))  # compiles
    for seconds in (0.3, 1.0):
        late = []
        for _ in range(3):  # the machine may be busy with something else
            begin = time.perf_counter()
            found = analyst.choose(position, Limit(seconds=seconds))
            late.append(time.perf_counter() - begin - seconds)
        assert min(late) < 0.05
        assert not found.exact
        assert found.estimate is not None
        assert found.depth


def test_nothing_is_searched_that_the_opening_book_knows() -> None:
    result = z.analyze(z.game("connect4").position(moves="44"), z.Limit(seconds=60))
    assert (result.source, result.exact) == ("book", True)
    assert all(candidate.exact for candidate in result.candidates)
    assert all(len(candidate.pv) > 1 for candidate in result.candidates)
    assert result.nodes < 1_000


def test_thinking_improves_and_can_be_closed() -> None:
    thinking = Analyst().think(z.game("squava").start(), Limit(seconds=2))
    first, second = next(thinking), next(thinking)
    assert (first.depth, second.depth) == (1, 2)
    thinking.close()


def test_a_finished_game() -> None:
    position = z.game("tictactoe").position(moves="a1 a2 b1 b2 c1")
    found = z.analyze(position).to_dict()
    assert (found["value"], found["plies"], found["candidates"], found["source"]) == (
        "loss",
        0,
        [],
        "end",
    )


def test_command() -> None:
    found = answer("analyze", "tictactoe", "--board", "XX./OO./...")
    assert isinstance(found, dict)
    assert (found["value"], found["plies"], found["best"]) == ("win", 1, ["c1"])
    assert [c["move"] for c in found["candidates"]][:2] == ["c1", "c2"]
    assert set(found["candidates"][0]) >= {
        "move", "value", "estimate", "plies", "exact", "best", "reasons", "pv"
    }  # fmt: skip
    assert found["candidates"][0]["reasons"][0] == {
        "kind": "wins-now",
        "text": "wins immediately",
        "line": ["c1"],
    }
    score = answer("analyze", "connect4", "--moves", "4455", "--seconds", "1")
    assert isinstance(score, dict)
    assert (score["score"], score["candidates"][0]["score"]) == (18, 18)
    diff = answer("analyze", "reversi:4")
    assert isinstance(diff, dict)
    assert (diff["diff"], diff["candidates"][0]["diff"]) == (-8, -8)
    player = answer("analyze", "tictactoe", "--player", "random:seed=1", "--moves", "b2")
    assert isinstance(player, dict)
    assert len(player["candidates"]) == 8
    assert player["verdict"]["value"] == "draw"
    assert player["verdict"]["best"] == ["a1", "c1", "a3", "c3"]
    text = zermelo("analyze", "tictactoe", "--moves", "a1 b2 c3").stdout
    assert "blocks" in text or "keeps the draw" in text
    lines = zermelo("analyze", "tictactoe", "--stdin", "--json", given="b2\nz9\n")
    assert lines.returncode == 1
    assert len(lines.stdout.splitlines()) == 2


def test_values_of_candidates_count_from_the_root() -> None:
    found = z.analyze(z.game("mnk:4x4x3").start())
    assert (found.plies, found.candidates[0].plies) == (5, 5)
    assert found.candidates[0].pv[0] == found.move
    assert len(found.candidates[0].pv) == 5


def analyze_moves(spec: str, moves: str, **limits: Any) -> dict[str, z.Candidate]:
    found = z.analyze(z.game(spec).position(moves=moves), Limit(**limits))
    return {c.move: c for c in found.candidates}


def test_in_squava_three_in_a_row_lose() -> None:
    moves = analyze_moves("squava", "a1 e5 b1 e4", seconds=3)
    assert moves["c1"].reasons[0].text == "makes three in a row and loses"
    assert moves["c1"].plies == 1


def test_an_illegal_line_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Engines that return nonsense: lines are cut, and reasons without a legal line dropped."""
    position = z.game("gomoku").position(moves="h8 a1 i8 a3 j8 a5")
    nonsense = [112, 112, 113]  # h8 is taken
    monkeypatch.setattr(BoardEngine, "principal_variation", lambda _self, _state: nonsense)
    monkeypatch.setattr(MCTSTree, "principal_variation", lambda _self, action: [action, *nonsense])
    limit = Limit(nodes=5_000)
    solution = z.solve(position, limit=limit)
    assert len(solution.pv) == 1
    assert solution.pv[0] in solution.best
    analysis = z.analyze(position, limit)
    assert all(candidate.pv == (candidate.move,) for candidate in analysis.candidates)
    for candidate in analysis.candidates:
        for reason in candidate.reasons:
            assert reason.line[-1:] != ("i8",)
    for spec in ("alphabeta:seconds=1", "mcts:sims=50"):
        choice = z.player(spec).choose(position, limit)
        assert choice.pv == (choice.move,)


def test_a_reason_with_an_illegal_line_is_dropped() -> None:
    game = z.game("tictactoe")
    position = game.position("XX./OO./...")
    facts = RuleFacts(game, position.state)
    lines = {2: (2,), 5: (5, 5), 6: (6, 5)}
    moves = [
        EvaluatedMove(action, sign=1 if action == 2 else -1, plies=2, line=line)
        for action, line in lines.items()
    ]
    reasons = find_reasons(facts, moves)
    assert [reason.kind for reason in reasons[2]][:1] == ["wins-now"]
    for reason in (reason for found in reasons.values() for reason in found):
        position.game.position("XX./OO./... X").play(reason.line[0])
    assert facts.replay((5, 6)) == ("c2", "a3")
    assert facts.replay((5, 5)) is None
    assert facts.replay((2, 5)) is None, "the game is over after c1"
    assert ("c2", "c2") not in [reason.line for reason in reasons[5]]
