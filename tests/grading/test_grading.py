"""Grading against the textbook, known ceilings, and files that are not what they should be."""

import functools
import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import zermelo as z
from zermelo.cli import cli
from zermelo.core.errors import ZermeloError
from zermelo.core.player import Analysis, Limit, Player
from zermelo.grading import generate, position_sets
from zermelo.grading.chances import ceiling, chances
from zermelo.grading.choices import Choices
from zermelo.grading.generate import Wanted
from zermelo.grading.grade import Grade, grade
from zermelo.grading.graph import Graph
from zermelo.grading.oracle import Prover
from zermelo.grading.position_sets import BadSet
from zermelo.grading.unbeatable import challenge
from zermelo.search.solver.solver import Settings

# Won by the first player, with draws and losses on the way.
WON = "connect4:rows=3,cols=4,win=3"
SMALL = ("tictactoe", WON, "connect4:3x4", "line:rows=3,cols=3,win=3,lose=2,pie=true")


@functools.cache
def graph_of(spec: str) -> Graph:
    graph = Graph.of(z.game(spec))
    assert graph is not None
    return graph


@functools.cache
def graded(spec: str, player: str) -> Grade:
    return grade(spec, player)


def book(game: Any) -> Any:
    """Textbook minimax: (value, plies), the winner fast and the loser slow."""

    @functools.cache
    def worth(state: Any) -> tuple[int, int]:
        if not game.actions(state):
            return game.result(state)[1], 0
        return max(moves(state).values(), key=lambda w: (w[0], -w[0] * w[1]))

    def moves(state: Any) -> dict[int, tuple[int, int]]:
        after = {action: worth(game.play(state, action)) for action in game.actions(state)}
        return {action: (-value, plies + 1) for action, (value, plies) in after.items()}

    return moves


@pytest.mark.parametrize("spec", SMALL)
def test_verdicts_equal_the_textbook(spec: str) -> None:
    graph = graph_of(spec)
    moves = book(graph.game)
    for state in graph.running:
        expected, found = moves(state), graph.judge(state)
        assert found.values == {action: value for action, (value, _) in expected.items()}
        if found.value > 0:
            soonest = min(plies for value, plies in expected.values() if value > 0)
            assert found.fastest == {a for a, worth in expected.items() if worth == (1, soonest)}
        else:
            assert found.fastest is None


@pytest.mark.parametrize("spec", ["tictactoe", WON])
def test_the_solver_says_the_same(spec: str) -> None:
    graph = graph_of(spec)
    prover = Prover(graph.game, Limit(), Settings(table_bits=16))
    for state in random.Random(1).sample(graph.running, 300):
        assert prover.judge(state) == graph.judge(state)
        assert prover.value(state) == graph.value(state)


def test_a_draw_is_more_than_a_loss_and_no_more_than_a_draw() -> None:
    game: Any = z.game("tictactoe")
    prover = Prover(game, Limit(), Settings(table_bits=16))
    assert prover.beats(game.initial(), -1, 10**6)
    assert not prover.beats(game.initial(), 0, 10**6)
    prover.solver.forget()
    assert not prover.beats(game.initial(), -1, 1)  # too few nodes to say


def test_mistakes_equal_a_count_by_the_textbook() -> None:
    game = z.game("tictactoe")
    moves, choices = book(game), Choices(game, "greedy", 0)
    mistakes = slow = 0
    for state in graph_of("tictactoe").running:
        worths = moves(state)
        best = max(value for value, _ in worths.values())
        value, plies = worths[choices[state]]
        mistakes += value < best
        slow += value == best == 1 and any(v == 1 and p < plies for v, p in worths.values())
    total = graded("tictactoe", "greedy").total
    assert (total.positions, total.mistakes, total.slow_wins) == (4520, mistakes, slow)
    assert mistakes > 0


def test_reversi_has_no_slow_wins() -> None:
    graph = Graph.of(z.game("reversi:4"), max_states=100_000)
    assert graph is not None
    assert graph.value(graph.game.initial()) == -1
    won = next(state for state in graph.running if graph.value(state) > 0)
    assert graph.judge(won).fastest is None


# Chances.


def test_random_against_random() -> None:
    graph = graph_of("tictactoe")
    first = chances(graph, 0, graph.children.__getitem__)
    second = chances(graph, 1, graph.children.__getitem__)
    assert first.win + first.draw + first.loss == 1
    assert (first.win, first.draw, first.loss) == (second.loss, second.draw, second.win)
    shown = [round(100 * float(chance), 2) for chance in (first.win, first.draw, first.loss)]
    assert shown == [58.49, 12.70, 28.81]


def test_the_ceilings_of_tictactoe() -> None:
    graph, game = graph_of("tictactoe"), z.game("tictactoe")
    first, second = ceiling(graph, 0), ceiling(graph, 1)
    assert first.win == first.win_never_losing == Fraction(191, 192)
    assert (second.win, second.win_never_losing) == (Fraction(887, 945), Fraction(866, 945))
    assert ceiling(graph, 0, game.start().play("b2").state).win == Fraction(95, 96)


@pytest.mark.parametrize("ties", ["all", "fastest"])
def test_perfect_with_ties_by_chance(ties: str) -> None:
    graph = graph_of("tictactoe")

    def policy(state: Any) -> Any:
        verdict = graph.judge(state)
        return verdict.fastest if ties == "fastest" and verdict.fastest else verdict.keeping

    first, second = chances(graph, 0, policy), chances(graph, 1, policy)
    assert first.loss == second.loss == 0
    assert [round(100 * float(c.win), 1) for c in (first, second)] == [96.8, 77.7]


def test_chances_equal_those_of_games_played_out() -> None:
    """One policy, every game against random weighed one by one."""
    game = z.game("tictactoe")
    graph, choices = graph_of("tictactoe"), Choices(game, "greedy", 0)

    def outcomes(position: z.Position, seat: int) -> list[Fraction]:
        if position.outcome is not None:
            at = 1 if position.outcome.winner is None else 2 * (position.outcome.winner != seat)
            return [Fraction(int(at == place)) for place in range(3)]
        own = position.player == seat
        actions = [choices[position.state]] if own else position.actions
        after = [outcomes(position.play_action(action), seat) for action in actions]
        return [sum(column, Fraction(0)) / len(after) for column in zip(*after, strict=True)]

    for seat in (0, 1):
        found = chances(graph, seat, lambda state: (choices[state],))
        assert [found.win, found.draw, found.loss] == outcomes(game.start(), seat)


def test_without_a_risk_a_won_game_is_always_won() -> None:
    first, second = ceiling(graph_of(WON), 0), ceiling(graph_of(WON), 1)
    assert first.win == first.win_never_losing == 1
    assert 0 < second.win == second.win_never_losing < 1


# Unbeatable.


def result_of(found: Grade) -> tuple[z.Position, int | None]:
    """The end of the line that beats a player, and who won."""
    position = found.game.position(moves=found.beaten_by)
    assert position.outcome is not None
    return position, position.outcome.winner


def test_lookahead_is_beaten_by_a_line_that_replays() -> None:
    found = graded("tictactoe", "lookahead:1")
    assert found.unbeatable is False
    choices = Choices(found.game, "lookahead:1", 0)
    assert found.trials is not None
    for seat, trial in enumerate(found.trials):
        assert trial.holds is False
        position = found.game.start()
        for action in trial.line or ():
            if position.player == seat:
                assert choices[position.state] == action
            position = position.play_action(action)
        assert position.outcome is not None
        assert position.outcome.winner == 1 - seat
    assert len(found.beaten_by or ()) == min(len(t.line or ()) for t in found.trials)


def test_perfect_has_no_mistakes_and_is_unbeatable() -> None:
    for spec in ("tictactoe", WON):
        found = graded(spec, "perfect")
        assert (found.total.mistakes, found.total.slow_wins) == (0, 0)
        assert found.unbeatable is True
        assert found.beaten_by is None
        assert found.vs_random is not None
    assert graded(WON, "perfect").vs_random[0].win == 1


def beatable_states(game: Any, policy: Any, seat: int, due: int) -> bool:
    """Straight from the definition, without merging: can some line get less than `due`?"""

    def can(state: Any) -> bool:
        over, value = game.result(state)
        if over:
            return (value if game.player(state) == seat else -value) < due
        own = game.player(state) == seat
        return any(
            can(game.play(state, a)) for a in ([policy[state]] if own else game.actions(state))
        )

    return can(game.initial())


@pytest.mark.parametrize("spec", ["tictactoe", WON])
@pytest.mark.parametrize("player", ["greedy", "lookahead:2", "perfect", "minimax:depth=3"])
def test_unbeatable_equals_its_definition(spec: str, player: str) -> None:
    game, graph = z.game(spec), graph_of(spec)
    choices = Choices(game, player, 3)
    for seat in (0, 1):
        due = graph.value_for(seat, game.initial())
        trial = challenge(choices, seat, due)
        assert trial.holds is not beatable_states(game, choices, seat, due)


class Drawish(Player):
    """Keeps to the worst move that does not lose, so that a won game is drawn."""

    name = "drawish"

    def think(self, position: z.Position, limit: Limit) -> Any:
        del limit
        verdict = graph_of(position.game.spec).judge(position.state)
        fair = {a: v for a, v in verdict.values.items() if v >= 0} or verdict.values
        action = min(fair, key=lambda a: fair[a])
        yield Analysis(position.game.to_text(action))


def test_who_can_force_a_win_must_win() -> None:
    game = z.game(WON)
    assert graph_of(WON).value(game.initial()) == 1
    found = grade(game, Drawish())
    assert found.unbeatable is False
    assert found.to_json()["unbeatable_as"] == {"first": False, "second": True}
    position, winner = result_of(found)
    assert winner is None, position
    assert challenge(Choices(game, Drawish()), 0, 0).holds is True  # were it a drawn game


def test_larger_games_are_proven_only_when_asked() -> None:
    found = grade("mnk:3x4x3", "greedy", positions=[z.game("mnk:3x4x3").start()])
    assert (found.unbeatable, found.vs_random, found.ceilings) == (None, None, None)
    found = grade("mnk:3x4x3", "greedy", positions=[z.game("mnk:3x4x3").start()], exhaustive=True)
    assert found.unbeatable is False
    assert result_of(found)[1] != 0
    assert found.to_json()["unbeatable_as"]["second"] is True  # a lost seat has nothing to lose


def test_perfect_forces_the_win_of_a_larger_game() -> None:
    found = grade("mnk:3x4x3", "perfect", positions=[z.game("mnk:3x4x3").start()], exhaustive=True)
    assert found.unbeatable is True


def test_a_drawn_game_must_not_be_lost_and_need_not_be_won() -> None:
    game = z.game("connect4:4x4")  # a draw, with too many states for a graph
    some = [game.start()]
    assert grade(game, "perfect", positions=some, exhaustive=True).unbeatable is True
    found = grade(game, "greedy", positions=some, exhaustive=True)
    assert found.trials is not None
    assert found.unbeatable is False
    for seat, trial in enumerate(found.trials):
        if trial.line:
            moves = [game.to_text(action) for action in trial.line]
            outcome = game.position(moves=moves).outcome
            assert outcome is not None
            assert outcome.winner == 1 - seat


def test_too_many_positions_and_unproven_values_are_not_decided() -> None:
    game = z.game("tictactoe")
    trial = challenge(Choices(game, "perfect"), 1, 0, max_positions=100)
    assert trial.holds is None
    assert "100" in trial.note
    found = grade(
        "gomoku6", "random", positions=[game_start("gomoku6")], exhaustive=True, seconds=1e-6
    )
    assert (found.unbeatable, found.total.unsolved) == (None, 1)
    assert any("not proven" in note for note in found.notes)
    assert found.total.mistake_rate is None


def game_start(spec: str) -> z.Position:
    return z.game(spec).start()


# Dice.


@pytest.mark.parametrize(
    "player", ["random", "level:3", "random:seed=5", "minimax:depth=2", "mcts:sims=20"]
)
def test_a_choice_depends_on_the_state_alone(player: str) -> None:
    game = z.game("tictactoe")
    number = 1500 if player == "level:3" else 150  # by what it has seen, if at all, then rarely
    states = random.Random(2).sample(graph_of("tictactoe").running, number)
    one, two = Choices(game, player, 1), Choices(game, player, 1)
    expected = {state: one[state] for state in states}
    assert {state: two[state] for state in reversed(states)} == dict(reversed(expected.items()))


OWN = """
import random
from zermelo.players import Analysis, Player

class Own(Player):
    name = "own"

    def __init__(self, seed=None):
        self.dice = random.Random(seed)

    def think(self, position, limit):
        yield Analysis(self.dice.choice(position.legal))
"""


@pytest.mark.parametrize("more", ["", ":seed=3"])
def test_a_player_that_cannot_begin_anew_is_made_anew(more: str, tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(OWN)
    test_a_choice_depends_on_the_state_alone(f"{path}{more}")


def test_another_seed_is_another_player() -> None:
    game, states = z.game("tictactoe"), graph_of("tictactoe").running[:300]
    one, two = Choices(game, "random", 1), Choices(game, "random", 2)
    assert [one[s] for s in states] != [two[s] for s in states]
    assert graded("tictactoe", "random").to_json() == grade("tictactoe", "random").to_json()


class Rogue(Player):
    """Plays what is no move."""

    name = "rogue"

    def think(self, position: z.Position, limit: Limit) -> Any:
        del position, limit
        yield Analysis("z9")


def test_a_move_that_is_none_is_refused() -> None:
    with pytest.raises(z.IllegalMove, match="z9"):
        Choices(z.game("tictactoe"), Rogue())[z.game("tictactoe").initial()]


# Sets.

SHIPPED = ("connect4", "gomoku6", "squava", "reversi")


@pytest.mark.parametrize("spec", SHIPPED)
def test_shipped_answers_are_true(spec: str) -> None:
    game = z.game(spec)
    prover = Prover(game, Limit(seconds=5), Settings(table_bits=20))
    for name, positions in position_sets.shipped(game).items():
        rng = random.Random(f"{spec} {name}")
        hard = name == "hard"
        for one in rng.sample(positions, 2 if hard else 6):
            assert one.verdict is not None
            found = prover.judge(one.position.state)
            if found is None:  # a busy machine: its sign alone is quick
                continue
            assert found.values == one.verdict.values
            if found.fastest is not None and one.verdict.fastest is not None:
                assert found.fastest == one.verdict.fastest


@pytest.mark.parametrize("spec", SHIPPED)
def test_shipped_positions_are_what_they_are_said_to_be(spec: str) -> None:
    game: Any = z.game(spec)
    for name, positions in position_sets.shipped(game).items():
        least = {min(game.moved(p.position.state, s) for s in game.symmetries()) for p in positions}
        assert len(least) == len(positions) >= 200
        assert all(p.verdict is not None and p.verdict.can_err for p in positions)
        if name == "hard":
            assert all(8 <= len(p.position.moves or ()) <= 14 for p in positions)
            assert all(len(p.verdict.keeping) <= 2 for p in positions if p.verdict)


def test_a_game_with_sets_is_graded_by_each() -> None:
    found = grade("connect4", "greedy")
    fields = found.to_json()
    assert list(fields["sets"]) == ["easy", "medium", "hard"]
    assert fields["positions"] == sum(s["positions"] for s in fields["sets"].values()) == 600
    assert fields["mistakes"] == sum(s["mistakes"] for s in fields["sets"].values())
    assert fields["vs_random"] is None
    perfect = grade("squava", "perfect")
    assert (perfect.total.mistakes, perfect.total.slow_wins) == (0, 0)


def test_the_same_seed_makes_the_same_set() -> None:
    game = z.game("mnk:4x4x4")
    wanted = Wanted(plies=(4, 8), decided=(3, 16), keeping=3)
    one = position_sets.to_text(generate.draw(game, 8, seed=3, wanted=wanted), game, 3, "c")
    assert one == position_sets.to_text(generate.draw(game, 8, seed=3, wanted=wanted), game, 3, "c")
    assert one != position_sets.to_text(generate.draw(game, 8, seed=4, wanted=wanted), game, 3, "c")


def test_a_set_holds_what_was_asked_for() -> None:
    game: Any = z.game("connect4:3x4")
    moves = book(game)
    drawn = generate.draw(game, 12, wanted=Wanted(plies=(2, 6), decided=(3, 6), keeping=1))
    for one in drawn:
        worths = moves(one.position.state)
        value, plies = max(worths.values(), key=lambda w: (w[0], -w[0] * w[1]))
        plies = plies if value else game.longest(one.position.state)
        assert 3 <= plies <= 6
        assert 2 <= len(one.position.moves or ()) <= 6
        assert [v for v, _ in worths.values()].count(value) == 1
        assert one.verdict == graph_of("connect4:3x4").judge(one.position.state)


def test_no_two_positions_of_a_set_are_alike() -> None:
    game: Any = z.game("tictactoe")
    drawn = generate.draw(game, 15, wanted=Wanted(plies=(1, 3)))
    turns = game.symmetries()
    assert len({min(game.moved(one.position.state, t) for t in turns) for one in drawn}) == 15


def test_sets_that_cannot_be_made() -> None:
    with pytest.raises(ZermeloError, match="only 0 such positions"):
        generate.draw(z.game("tictactoe"), 5, wanted=Wanted(plies=(0, 2), decided=(1, 2)))
    with pytest.raises(ZermeloError, match="beyond the solver"):
        generate.draw(z.game("gomoku"), 5)


def test_a_set_survives_its_file(tmp_path: Path) -> None:
    for spec in ("tictactoe", "connect4:3x4", "reversi:4"):
        game = z.game(spec)
        made = generate.draw(game, 5)
        path = tmp_path / "set.txt"
        path.write_text(position_sets.to_text(made, game, 1, "c"))
        again = position_sets.read(path, game)
        assert [(a.position, a.verdict) for a in again] == [(m.position, m.verdict) for m in made]


def test_plain_positions_are_solved_when_graded(tmp_path: Path) -> None:
    path = tmp_path / "some.txt"
    path.write_text("\n# a remark\nb2 a1\r\nboard: XX./OO./...\n\t" + "d" * 9 + "\n")
    found = position_sets.read(path, z.game("tictactoe"))
    assert [one.verdict is None for one in found] == [True, True, True, False]
    assert found[0].position == z.game("tictactoe").start() == found[3].position
    total = grade("tictactoe", "perfect", positions=path).total
    assert (total.positions, total.mistakes) == (4, 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("b2\nb2 b2\n", "line 2: illegal move 'b2'"),
        ("a1 b1 a2 b2 a3\n", "line 1: the game is over"),
        ("b2\tdd\n", "line 1: 2 answers for 8 legal moves"),
        ("b2\tddddddd?\n", "line 1: '?' is no answer"),
        ("board: XX\n", "line 1: "),
        ("", "holds no positions"),
        ("# only a remark\n", "holds no positions"),
        ('# {"game": "connect4"}\n\n', "line 1: these are positions of 'connect4'"),
        ('# {"game": "tictactoe", "rules": "0"}\n\n', "line 1: .* other rules"),
    ],
)
def test_bad_files_are_refused_by_line(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_text(text)
    with pytest.raises(BadSet, match=message.replace("?", r"\?")):
        position_sets.read(path, z.game("tictactoe"))


def test_files_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game, path = z.game("tictactoe"), tmp_path / "file"
    with pytest.raises(BadSet, match="cannot read"):
        position_sets.read(path, game)
    with pytest.raises(BadSet, match="cannot read"):
        position_sets.read(tmp_path, game)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadSet, match="no text"):
        position_sets.read(path, game)
    path.write_text("\n" * 20)
    monkeypatch.setattr(position_sets, "MAX_POSITIONS", 10)
    with pytest.raises(BadSet, match="more than 10 positions"):
        position_sets.read(path, game)
    monkeypatch.setattr(position_sets, "MAX_BYTES", 10)
    with pytest.raises(BadSet, match="more than 10 bytes"):
        position_sets.read(path, game)


# Commands.


def run(*words: str) -> Any:
    return CliRunner().invoke(cli, list(words), standalone_mode=False)


FIELDS = {
    "game", "player", "positions", "mistakes", "mistake_rate", "slow_wins", "unbeatable",
    "unbeatable_as", "beaten_by", "vs_random",
}  # fmt: skip


def test_grade_answers_in_json() -> None:
    done = run("grade", "tictactoe:size=3", "lookahead:1", "--json")
    found = json.loads(done.output)
    assert set(found) > FIELDS
    assert found["game"] == "tictactoe:size=3"
    assert set(found["vs_random"]["second"]) == {"win", "draw", "loss"}
    assert found["ceilings"]["first"]["exact"]["win"] == "191/192"
    assert found["mistake_rate"] == found["mistakes"] / 4520
    assert done.return_value == 0


def test_only_exhaustive_and_beaten_is_exit_code_1() -> None:
    assert run("grade", "tictactoe", "greedy").return_value == 0
    assert run("grade", "tictactoe", "greedy", "--exhaustive").return_value == 1
    assert run("grade", "tictactoe", "perfect", "--exhaustive").return_value == 0


def test_grade_tells_people_figures_and_ceilings() -> None:
    lines = run("grade", "tictactoe", "greedy").output.splitlines()
    assert lines[1].split() == ["figure", "ceiling"]
    assert any("mistakes" in line and line.endswith(" 0") for line in lines)
    assert any("as first against random" in line and "99.48%" in line for line in lines)
    assert any("as second against random" in line and "91.64%" in line for line in lines)
    at = next(number for number, line in enumerate(lines) if line.startswith("beaten by"))
    assert "wins" in lines[at]
    assert lines[at + 1].split() == ["a", "b", "c"]


@pytest.mark.parametrize(
    "words",
    [
        ("grade", "tictactoe", "nobody"),
        ("grade", "tictactoe", "human"),
        ("grade", "gomoku", "random"),
        ("grade", "tictactoe", "random", "--positions", "no such file"),
        ("positions", "tictactoe", "--plies", "5", "3"),
        ("positions", "tictactoe", "--number", "99999", "--plies", "0", "1"),
    ],
)
def test_bad_arguments(words: tuple[str, ...]) -> None:
    done = run(*words)
    assert done.exception is not None
    assert "\n" not in str(done.exception)
    assert not done.output


def test_positions_writes_a_file_that_grade_reads(tmp_path: Path) -> None:
    path = tmp_path / "set.txt"
    words = ("positions", "connect4:3x4", "--number", "6", "--plies", "1", "6", "--keeping", "1")
    assert run(*words, "--out", str(path), "--json").exception is None
    assert run(*words).output == path.read_text()
    header = json.loads(path.read_text().splitlines()[0].removeprefix("#"))
    again = run(*header["command"].split()[1:])
    assert again.output == path.read_text()
    done = run("grade", "connect4:3x4", "perfect", "--positions", str(path), "--json")
    found = json.loads(done.output)
    assert (found["positions"], found["mistakes"], list(found["sets"])) == (6, 0, ["set"])


def test_ctrl_c_ends_with_what_is_known() -> None:
    asked = 0

    def stop(_text: str) -> None:
        nonlocal asked
        asked += 1
        if asked == 50:
            raise KeyboardInterrupt

    found = grade("tictactoe", "random", progress=stop)
    assert 0 < found.total.positions < 50
    assert found.unbeatable is None
    assert "stopped" in found.notes[0]


def test_whoever_moves_first_has_the_first_seats_value(tmp_path: Path) -> None:
    """A game that player 1 begins: what the start is worth belongs to that player."""
    file = tmp_path / "nim.py"
    file.write_text(
        "num_actions = 3\n"
        "def initial(): return (7, 1)\n"
        "def player(state): return state[1]\n"
        "def actions(state): return [n for n in range(3) if n < state[0]]\n"
        "def play(state, action): return (state[0] - action - 1, 1 - state[1])\n"
        "def result(state): return (state[0] == 0, -1 if state[0] == 0 else 0)\n"
    )
    found = z.grade(str(file), "mcts:sims=300")
    assert found.total.mistakes == 0
    assert found.unbeatable
