"""Grading: against textbook minimax, known ceilings, and bad position files."""

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
from zermelo.grading.generate import PositionFilter
from zermelo.grading.grade import Grade, grade
from zermelo.grading.graph import GameGraph
from zermelo.grading.oracle import SolverOracle
from zermelo.grading.policy import PlayerPolicy
from zermelo.grading.position_sets import BadPositionSet
from zermelo.grading.random_opponent import compute_ceiling, outcome_probabilities
from zermelo.grading.unbeatable import check_seat
from zermelo.search.solver.solver import SolverSettings

# A win for the first player, with draws and losses among its positions.
WON = "connect4:rows=3,cols=4,win=3"
SMALL = ("tictactoe", WON, "connect4:3x4", "line:rows=3,cols=3,win=3,lose=2,pie=true")


@functools.cache
def graph_of(spec: str) -> GameGraph:
    graph = GameGraph.build(z.game(spec))
    assert graph is not None
    return graph


@functools.cache
def cached_grade(spec: str, player: str) -> Grade:
    return grade(spec, player)


def minimax(game: Any) -> Any:
    """Return a function that maps a state to the (value, plies) of each move, by minimax."""

    @functools.cache
    def solve(state: Any) -> tuple[int, int]:
        if not game.actions(state):
            return game.result(state)[1], 0
        return max(moves(state).values(), key=lambda w: (w[0], -w[0] * w[1]))

    def moves(state: Any) -> dict[int, tuple[int, int]]:
        after = {action: solve(game.play(state, action)) for action in game.actions(state)}
        return {action: (-value, plies + 1) for action, (value, plies) in after.items()}

    return moves


@pytest.mark.parametrize("spec", SMALL)
def test_move_values_equal_minimax(spec: str) -> None:
    graph = graph_of(spec)
    moves = minimax(graph.game)
    for state in graph.nonterminal:
        expected, actual = moves(state), graph.evaluate_moves(state)
        assert actual.by_action == {action: value for action, (value, _) in expected.items()}
        if actual.value > 0:
            shortest = min(plies for value, plies in expected.values() if value > 0)
            assert actual.fastest == {
                a for a, solved in expected.items() if solved == (1, shortest)
            }
        else:
            assert actual.fastest is None


@pytest.mark.parametrize("spec", ["tictactoe", WON])
def test_the_solver_agrees_with_the_graph(spec: str) -> None:
    graph = graph_of(spec)
    oracle = SolverOracle(graph.game, Limit(), SolverSettings(table_bits=16))
    for state in random.Random(1).sample(graph.nonterminal, 300):
        assert oracle.evaluate_moves(state) == graph.evaluate_moves(state)
        assert oracle.value(state) == graph.value(state)


def test_a_draw_exceeds_a_loss_but_not_a_draw() -> None:
    game: Any = z.game("tictactoe")
    oracle = SolverOracle(game, Limit(), SolverSettings(table_bits=16))
    assert oracle.exceeds(game.initial(), -1, 10**6)
    assert not oracle.exceeds(game.initial(), 0, 10**6)
    oracle.solver.clear()
    assert not oracle.exceeds(game.initial(), -1, 1)  # too few nodes for a proof


def test_mistakes_equal_a_count_by_minimax() -> None:
    game = z.game("tictactoe")
    moves, policy = minimax(game), PlayerPolicy(game, "greedy", 0)
    mistakes = slow = 0
    for state in graph_of("tictactoe").nonterminal:
        options = moves(state)
        best = max(value for value, _ in options.values())
        value, plies = options[policy[state]]
        mistakes += value < best
        slow += value == best == 1 and any(v == 1 and p < plies for v, p in options.values())
    total = cached_grade("tictactoe", "greedy").total
    assert (total.positions, total.mistakes, total.slow_wins) == (4520, mistakes, slow)
    assert mistakes > 0


def test_reversi_has_no_slow_wins() -> None:
    graph = GameGraph.build(z.game("reversi:4"), max_states=100_000)
    assert graph is not None
    assert graph.value(graph.game.initial()) == -1
    won = next(state for state in graph.nonterminal if graph.value(state) > 0)
    assert graph.evaluate_moves(won).fastest is None


# Results against a random opponent.


def test_random_against_random() -> None:
    graph = graph_of("tictactoe")
    first = outcome_probabilities(graph, 0, graph.children.__getitem__)
    second = outcome_probabilities(graph, 1, graph.children.__getitem__)
    assert first.win + first.draw + first.loss == 1
    assert (first.win, first.draw, first.loss) == (second.loss, second.draw, second.win)
    shown = [round(100 * float(chance), 2) for chance in (first.win, first.draw, first.loss)]
    assert shown == [58.49, 12.70, 28.81]


def test_the_ceilings_of_tictactoe() -> None:
    graph, game = graph_of("tictactoe"), z.game("tictactoe")
    first, second = compute_ceiling(graph, 0), compute_ceiling(graph, 1)
    assert first.win == first.win_never_losing == Fraction(191, 192)
    assert (second.win, second.win_never_losing) == (Fraction(887, 945), Fraction(866, 945))
    assert compute_ceiling(graph, 0, game.start().play("b2").state).win == Fraction(95, 96)


@pytest.mark.parametrize("ties", ["all", "fastest"])
def test_perfect_play_with_random_tie_breaks(ties: str) -> None:
    graph = graph_of("tictactoe")

    def policy(state: Any) -> Any:
        values = graph.evaluate_moves(state)
        return values.fastest if ties == "fastest" and values.fastest else values.value_preserving

    first, second = outcome_probabilities(graph, 0, policy), outcome_probabilities(graph, 1, policy)
    assert first.loss == second.loss == 0
    assert [round(100 * float(c.win), 1) for c in (first, second)] == [96.8, 77.7]


def test_probabilities_equal_an_enumeration_of_all_games() -> None:
    game = z.game("tictactoe")
    graph, policy = graph_of("tictactoe"), PlayerPolicy(game, "greedy", 0)

    def outcomes(position: z.Position, seat: int) -> list[Fraction]:
        if position.outcome is not None:
            at = 1 if position.outcome.winner is None else 2 * (position.outcome.winner != seat)
            return [Fraction(int(at == place)) for place in range(3)]
        own = position.player == seat
        actions = [policy[position.state]] if own else position.actions
        after = [outcomes(position.play_action(action), seat) for action in actions]
        return [sum(column, Fraction(0)) / len(after) for column in zip(*after, strict=True)]

    for seat in (0, 1):
        result = outcome_probabilities(graph, seat, lambda state: (policy[state],))
        assert [result.win, result.draw, result.loss] == outcomes(game.start(), seat)


def test_a_player_that_never_loses_value_always_wins_a_won_game() -> None:
    first, second = compute_ceiling(graph_of(WON), 0), compute_ceiling(graph_of(WON), 1)
    assert first.win == first.win_never_losing == 1
    assert 0 < second.win == second.win_never_losing < 1


# Unbeatable.


def result_of(result: Grade) -> tuple[z.Position, int | None]:
    """Return the final position of the refutation, and its winner."""
    position = result.game.position(moves=result.beaten_by)
    assert position.outcome is not None
    return position, position.outcome.winner


def test_the_refutation_of_lookahead_replays() -> None:
    result = cached_grade("tictactoe", "lookahead:1")
    assert result.unbeatable is False
    policy = PlayerPolicy(result.game, "lookahead:1", 0)
    assert result.seat_checks is not None
    for seat, check in enumerate(result.seat_checks):
        assert check.unbeatable is False
        position = result.game.start()
        for action in check.refutation or ():
            if position.player == seat:
                assert policy[position.state] == action
            position = position.play_action(action)
        assert position.outcome is not None
        assert position.outcome.winner == 1 - seat
    assert len(result.beaten_by or ()) == min(
        len(check.refutation or ()) for check in result.seat_checks
    )


def test_perfect_has_no_mistakes_and_is_unbeatable() -> None:
    for spec in ("tictactoe", WON):
        result = cached_grade(spec, "perfect")
        assert (result.total.mistakes, result.total.slow_wins) == (0, 0)
        assert result.unbeatable is True
        assert result.beaten_by is None
        assert result.vs_random is not None
    assert cached_grade(WON, "perfect").vs_random[0].win == 1


def beatable_states(game: Any, policy: Any, seat: int, game_value: int) -> bool:
    """Return whether some line gets less than `game_value`, without merging transpositions."""

    def can(state: Any) -> bool:
        over, value = game.result(state)
        if over:
            return (value if game.player(state) == seat else -value) < game_value
        own = game.player(state) == seat
        return any(
            can(game.play(state, a)) for a in ([policy[state]] if own else game.actions(state))
        )

    return can(game.initial())


@pytest.mark.parametrize("spec", ["tictactoe", WON])
@pytest.mark.parametrize("player", ["greedy", "lookahead:2", "perfect", "minimax:depth=3"])
def test_unbeatable_equals_its_definition(spec: str, player: str) -> None:
    game, graph = z.game(spec), graph_of(spec)
    policy = PlayerPolicy(game, player, 3)
    for seat in (0, 1):
        game_value = graph.value_for(seat, game.initial())
        check = check_seat(policy, seat, game_value)
        assert check.unbeatable is not beatable_states(game, policy, seat, game_value)


class Drawish(Player):
    """Plays the worst move that does not lose, so that it draws a won game."""

    name = "drawish"

    def think(self, position: z.Position, limit: Limit) -> Any:
        del limit
        values = graph_of(position.game.spec).evaluate_moves(position.state).by_action
        fair = {a: v for a, v in values.items() if v >= 0} or values
        action = min(fair, key=lambda a: fair[a])
        yield Analysis(position.to_move_text(action))


def test_a_player_that_can_force_a_win_must_win() -> None:
    game = z.game(WON)
    assert graph_of(WON).value(game.initial()) == 1
    result = grade(game, Drawish())
    assert result.unbeatable is False
    assert result.to_dict()["unbeatable_as"] == {"first": False, "second": True}
    position, winner = result_of(result)
    assert winner is None, position
    assert (
        check_seat(PlayerPolicy(game, Drawish()), 0, 0).unbeatable is True
    )  # if the value were a draw


def test_larger_games_are_checked_only_on_request() -> None:
    result = grade("mnk:3x4x3", "greedy", positions=[z.game("mnk:3x4x3").start()])
    assert (result.unbeatable, result.vs_random, result.ceilings) == (None, None, None)
    result = grade("mnk:3x4x3", "greedy", positions=[z.game("mnk:3x4x3").start()], exhaustive=True)
    assert result.unbeatable is False
    assert result_of(result)[1] != 0
    assert result.to_dict()["unbeatable_as"]["second"] is True  # a lost seat has nothing to lose


def test_perfect_forces_the_win_of_a_larger_game() -> None:
    result = grade("mnk:3x4x3", "perfect", positions=[z.game("mnk:3x4x3").start()], exhaustive=True)
    assert result.unbeatable is True


def test_in_a_drawn_game_a_draw_is_enough() -> None:
    game = z.game("connect4:4x4")  # a draw, with too many states for a graph
    some = [game.start()]
    assert grade(game, "perfect", positions=some, exhaustive=True).unbeatable is True
    result = grade(game, "greedy", positions=some, exhaustive=True)
    assert result.seat_checks is not None
    assert result.unbeatable is False
    for seat, check in enumerate(result.seat_checks):
        if check.refutation:
            moves = game.line_to_text(game.initial(), check.refutation)
            outcome = game.position(moves=moves).outcome
            assert outcome is not None
            assert outcome.winner == 1 - seat


def test_too_many_positions_or_an_unproven_value_leave_it_undecided() -> None:
    game = z.game("tictactoe")
    check = check_seat(PlayerPolicy(game, "perfect"), 1, 0, max_positions=100)
    assert check.unbeatable is None
    assert "100" in check.note
    result = grade(
        "gomoku6", "random", positions=[game_start("gomoku6")], exhaustive=True, seconds=1e-6
    )
    assert (result.unbeatable, result.total.unsolved) == (None, 1)
    assert any("not proven" in note for note in result.notes)
    assert result.total.mistake_rate is None


def game_start(spec: str) -> z.Position:
    return z.game(spec).start()


# Stochastic players.


@pytest.mark.parametrize(
    "player", ["random", "level:3", "random:seed=5", "minimax:depth=2", "mcts:sims=20"]
)
def test_a_choice_depends_on_the_state_alone(player: str) -> None:
    game = z.game("tictactoe")
    number = 1500 if player == "level:3" else 150  # a dependence on its history would show rarely
    states = random.Random(2).sample(graph_of("tictactoe").nonterminal, number)
    one, two = PlayerPolicy(game, player, 1), PlayerPolicy(game, player, 1)
    expected = {state: one[state] for state in states}
    assert {state: two[state] for state in reversed(states)} == dict(reversed(expected.items()))


OWN = """
import random
from zermelo import Analysis, Player

class Own(Player):
    name = "own"

    def __init__(self, seed=None):
        self.rng = random.Random(seed)

    def think(self, position, limit):
        yield Analysis(self.rng.choice(position.legal))
"""


@pytest.mark.parametrize("more", ["", ":seed=3"])
def test_a_player_without_reseed_is_created_for_every_state(more: str, tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(OWN)
    test_a_choice_depends_on_the_state_alone(f"{path}{more}")


def test_another_seed_gives_other_choices() -> None:
    game, states = z.game("tictactoe"), graph_of("tictactoe").nonterminal[:300]
    one, two = PlayerPolicy(game, "random", 1), PlayerPolicy(game, "random", 2)
    assert [one[s] for s in states] != [two[s] for s in states]
    assert cached_grade("tictactoe", "random").to_dict() == grade("tictactoe", "random").to_dict()


class Rogue(Player):
    """Answers with an illegal move."""

    name = "rogue"

    def think(self, position: z.Position, limit: Limit) -> Any:
        del position, limit
        yield Analysis("z9")


def test_an_illegal_move_is_refused() -> None:
    with pytest.raises(z.IllegalMove, match="z9"):
        PlayerPolicy(z.game("tictactoe"), Rogue())[z.game("tictactoe").initial()]


# Position sets.

SHIPPED = ("connect4", "gomoku6", "squava", "reversi")


@pytest.mark.parametrize("spec", SHIPPED)
def test_shipped_labels_are_correct(spec: str) -> None:
    game = z.game(spec)
    oracle = SolverOracle(game, Limit(seconds=5), SolverSettings(table_bits=20))
    for name, positions in position_sets.load_shipped(game).items():
        rng = random.Random(f"{spec} {name}")
        hard = name == "hard"
        for one in rng.sample(positions, 2 if hard else 6):
            assert one.move_values is not None
            actual = oracle.evaluate_moves(one.position.state)
            if actual is None:  # not solved in time on a busy machine
                continue
            assert actual.by_action == one.move_values.by_action
            if actual.fastest is not None and one.move_values.fastest is not None:
                assert actual.fastest == one.move_values.fastest


@pytest.mark.parametrize("spec", SHIPPED)
def test_shipped_positions_are_as_documented(spec: str) -> None:
    game: Any = z.game(spec)
    for name, positions in position_sets.load_shipped(game).items():
        symmetries = game.symmetries()
        distinct = {min(game.transform(p.position.state, s) for s in symmetries) for p in positions}
        assert len(distinct) == len(positions) >= 200
        assert all(p.move_values is not None and p.move_values.allows_mistake for p in positions)
        if name == "hard":
            assert all(8 <= len(p.position.moves or ()) <= 14 for p in positions)
            assert all(len(p.move_values.value_preserving) <= 2 for p in positions if p.move_values)


def test_a_game_with_shipped_sets_is_graded_on_each() -> None:
    result = grade("connect4", "greedy")
    fields = result.to_dict()
    assert list(fields["sets"]) == ["easy", "medium", "hard"]
    assert fields["positions"] == sum(s["positions"] for s in fields["sets"].values()) == 600
    assert fields["mistakes"] == sum(s["mistakes"] for s in fields["sets"].values())
    assert fields["vs_random"] is None
    perfect = grade("squava", "perfect")
    assert (perfect.total.mistakes, perfect.total.slow_wins) == (0, 0)


def test_the_same_seed_makes_the_same_set() -> None:
    game = z.game("mnk:4x4x4")
    accept = PositionFilter(plies=(4, 8), distance=(3, 16), max_preserving=3)
    one = position_sets.to_text(
        generate.generate_positions(game, 8, seed=3, accept=accept), game, 3, "c"
    )
    assert one == position_sets.to_text(
        generate.generate_positions(game, 8, seed=3, accept=accept), game, 3, "c"
    )
    assert one != position_sets.to_text(
        generate.generate_positions(game, 8, seed=4, accept=accept), game, 3, "c"
    )


def test_a_generated_set_satisfies_its_filter() -> None:
    game: Any = z.game("connect4:3x4")
    moves = minimax(game)
    accept = PositionFilter(plies=(2, 6), distance=(3, 6), max_preserving=1)
    positions = generate.generate_positions(game, 12, accept=accept)
    for one in positions:
        options = moves(one.position.state)
        value, plies = max(options.values(), key=lambda w: (w[0], -w[0] * w[1]))
        plies = plies if value else game.hooks.max_plies(one.position.state)
        assert 3 <= plies <= 6
        assert 2 <= len(one.position.moves or ()) <= 6
        assert [v for v, _ in options.values()].count(value) == 1
        assert one.move_values == graph_of("connect4:3x4").evaluate_moves(one.position.state)


def test_no_two_positions_of_a_set_are_symmetric() -> None:
    game: Any = z.game("tictactoe")
    positions = generate.generate_positions(game, 15, accept=PositionFilter(plies=(1, 3)))
    symmetries = game.symmetries()
    assert (
        len({min(game.transform(one.position.state, s) for s in symmetries) for one in positions})
        == 15
    )


def test_sets_that_cannot_be_generated() -> None:
    with pytest.raises(ZermeloError, match="found only 0 of 5 such positions"):
        generate.generate_positions(
            z.game("tictactoe"), 5, accept=PositionFilter(plies=(0, 2), distance=(1, 2))
        )
    with pytest.raises(ZermeloError, match="at most 64 cells"):
        generate.generate_positions(z.game("gomoku"), 5)


def test_a_set_survives_a_round_trip_through_its_file(tmp_path: Path) -> None:
    for spec in ("tictactoe", "connect4:3x4", "reversi:4"):
        game = z.game(spec)
        positions = generate.generate_positions(game, 5)
        path = tmp_path / "set.txt"
        path.write_text(position_sets.to_text(positions, game, 1, "c"))
        again = position_sets.read(path, game)
        assert again == positions


def test_positions_without_labels_are_solved(tmp_path: Path) -> None:
    path = tmp_path / "some.txt"
    path.write_text("\n# a comment\nb2 a1\r\nboard: XX./OO./...\n\t" + "d" * 9 + "\n")
    result = position_sets.read(path, z.game("tictactoe"))
    assert [one.move_values is None for one in result] == [True, True, True, False]
    assert result[0].position == z.game("tictactoe").start() == result[3].position
    total = grade("tictactoe", "perfect", positions=path).total
    assert (total.positions, total.mistakes) == (4, 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("b2\nb2 b2\n", "line 2: illegal move 'b2'"),
        ("a1 b1 a2 b2 a3\n", "line 1: the game is over"),
        ("b2\tdd\n", "line 1: there are 2 labels for 8 legal moves"),
        ("b2\tddddddd?\n", "line 1: '?' is not a label"),
        ("board: XX\n", "line 1: "),
        ("", "contains no positions"),
        ("# only a comment\n", "contains no positions"),
        ('# {"game": "connect4"}\n\n', "line 1: these are positions of 'connect4'"),
        ('# {"game": "tictactoe", "rules": "0"}\n\n', "line 1: .* have changed since"),
    ],
)
def test_errors_in_files_name_the_line(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_text(text)
    with pytest.raises(BadPositionSet, match=message.replace("?", r"\?")):
        position_sets.read(path, z.game("tictactoe"))


def test_unreadable_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game, path = z.game("tictactoe"), tmp_path / "file"
    with pytest.raises(BadPositionSet, match="cannot read"):
        position_sets.read(path, game)
    with pytest.raises(BadPositionSet, match="cannot read"):
        position_sets.read(tmp_path, game)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadPositionSet, match="not a UTF-8 text"):
        position_sets.read(path, game)
    path.write_text("\n" * 20)
    monkeypatch.setattr(position_sets, "MAX_POSITIONS", 10)
    with pytest.raises(BadPositionSet, match="more than 10 positions"):
        position_sets.read(path, game)
    monkeypatch.setattr(position_sets, "MAX_BYTES", 10)
    with pytest.raises(BadPositionSet, match="more than 10 bytes"):
        position_sets.read(path, game)


# Commands.


def run(*words: str) -> Any:
    return CliRunner().invoke(cli, list(words), standalone_mode=False)


FIELDS = {
    "game", "player", "positions", "mistakes", "mistake_rate", "slow_wins", "unbeatable",
    "unbeatable_as", "beaten_by", "vs_random",
}  # fmt: skip


def test_grade_prints_json() -> None:
    done = run("grade", "tictactoe:size=3", "lookahead:1", "--json")
    result = json.loads(done.output)
    assert set(result) > FIELDS
    assert result["game"] == "tictactoe:size=3"
    assert set(result["vs_random"]["second"]) == {"win", "draw", "loss"}
    assert result["ceilings"]["first"]["exact"]["win"] == "191/192"
    assert result["mistake_rate"] == result["mistakes"] / 4520
    assert done.return_value == 0


def test_exit_code_1_needs_exhaustive_and_a_refutation() -> None:
    assert run("grade", "tictactoe", "greedy").return_value == 0
    assert run("grade", "tictactoe", "greedy", "--exhaustive").return_value == 1
    assert run("grade", "tictactoe", "perfect", "--exhaustive").return_value == 0


def test_grade_prints_figures_and_ceilings() -> None:
    lines = run("grade", "tictactoe", "greedy").output.splitlines()
    assert lines[1].split() == ["result", "best", "possible"]
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
    result = json.loads(done.output)
    assert (result["positions"], result["mistakes"], list(result["sets"])) == (6, 0, ["set"])


def test_ctrl_c_returns_the_results_so_far() -> None:
    num_calls = 0

    def stop(_text: str, _share: float | None = None) -> None:
        nonlocal num_calls
        num_calls += 1
        if num_calls == 50:
            raise KeyboardInterrupt

    result = grade("tictactoe", "random", progress=stop)
    assert 0 < result.total.positions < 50
    assert result.unbeatable is None
    assert "stopped" in result.notes[0]


def test_the_value_belongs_to_the_player_who_moves_first(tmp_path: Path) -> None:
    """Player 1 begins this game, so the value of the initial state is that of player 1."""
    file = tmp_path / "nim.py"
    file.write_text(
        "num_actions = 3\n"
        "def initial(): return (7, 1)\n"
        "def player(state): return state[1]\n"
        "def actions(state): return [n for n in range(3) if n < state[0]]\n"
        "def play(state, action): return (state[0] - action - 1, 1 - state[1])\n"
        "def result(state): return (state[0] == 0, -1 if state[0] == 0 else 0)\n"
    )
    result = z.grade(str(file), "mcts:sims=300")
    assert result.total.mistakes == 0
    assert result.unbeatable
