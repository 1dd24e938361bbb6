"""The solver against the textbook and against published values."""

import csv
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

import zermelo as z
from support import truth
from support.commands import answer, zermelo
from support.positions import late_state, reachable_states
from zermelo.core.player import Limit
from zermelo.search import textbook
from zermelo.search.limits import SearchClock
from zermelo.search.negamax.searcher import Unsolved
from zermelo.search.solver.solution import solve
from zermelo.search.solver.solver import Solver, SolverSettings
from zermelo.search.tablebase.files import tablebase_path
from zermelo.search.tablebase.tablebase import Tablebase

SWITCHES = [
    SolverSettings(*switches, deepening=False, table_bits=14)
    for switches in itertools.product((True, False), repeat=3)
] + [SolverSettings(table_bits=14), SolverSettings(table_bits=14, threads=2)]


def check_agreement(solver: Solver, book: textbook.TextbookSearch, state: Any) -> None:
    """Compare value, distance and all best moves with the textbook."""
    game = solver.game
    value, best = book.best_actions(state)
    score = solver.score(state)
    assert (score > 0) - (score < 0) == (value > 0) - (value < 0) == solver.sign(state)
    if game.hooks.ply_cost and value:
        assert game.hooks.win_score - abs(score) == textbook.WIN_SCORE - abs(value)
    if game.hooks.ply_cost:
        assert solver.best_actions(state, score) == best


@pytest.mark.parametrize("settings", SWITCHES)
def test_every_state_of_3x3(settings: SolverSettings) -> None:
    game = z.game("tictactoe")
    solver, book = (
        Solver(game, settings),
        textbook.TextbookSearch(game, method="memo", distance=True),
    )
    for state in reachable_states(game)[:: 1 if settings == SWITCHES[0] else 7]:
        if not game.result(state)[0]:
            check_agreement(solver, book, state)


@pytest.mark.proof
@pytest.mark.parametrize("settings", SWITCHES)
def test_every_state_of_4x3(settings: SolverSettings) -> None:
    """With threads, which every question starts, only one state of each symmetry class."""
    game = z.game("mnk:4x3x3")
    assert isinstance(game, z.WordGame)
    solver, book = (
        Solver(game, settings),
        textbook.TextbookSearch(game, method="memo", distance=True),
    )
    for state in reachable_states(game):
        canonical = min(game.transform(state, symmetry) for symmetry in game.symmetries())
        if not game.result(state)[0] and (settings.threads == 1 or state == canonical):
            check_agreement(solver, book, state)


SPECS = (
    "mnk:4x3x3",
    "mnk:4x4x3",
    "mnk:3x5x3",
    "gomoku6",
    "squava",
    "squava:pie=true",
    "connect4",
    "connect4:5x5",
    "gomoku:size=5,overline=exact",
    "line:rows=4,cols=5,win=3,lose=2",
    "line:rows=4,cols=5,win=4,lose=3,gravity=true",
    "line:rows=3,cols=4,win=3,lose=2,pie=true",
    "line:rows=3,cols=4,win=2,pie=true",
    "line:rows=3,cols=3,win=3,lose=1",
    "reversi:4",
    "reversi:6",
    "reversi",
    "examples/domineering.py",
)


def check_random_positions(spec: str, number: int) -> None:
    """Check late positions with every combination of switches."""
    game, rng = z.game(spec), random.Random(spec)
    assert isinstance(game, z.WordGame)
    solvers = [Solver(game, settings) for settings in SWITCHES]
    for _ in range(number):
        free = rng.randrange(2, 9) + (6 if "domineering" in spec else 0)
        state = late_state(game, free, rng)
        book = textbook.TextbookSearch(game, method="both", distance=True)
        for solver in solvers:
            check_agreement(solver, book, state)


@pytest.mark.parametrize("spec", SPECS)
def test_random_positions(spec: str) -> None:
    check_random_positions(spec, 12)


@pytest.mark.proof
@pytest.mark.parametrize("spec", SPECS)
def test_thousands_of_random_positions(spec: str) -> None:
    check_random_positions(spec, 1000)


@pytest.mark.parametrize(
    ("spec", "value", "plies"),
    [
        ("tictactoe", "draw", None),
        ("mnk:4x3x3", "win", 7),
        ("mnk:4x4x3", "win", 5),
        ("mnk:5x3x3", "win", 7),
        ("mnk:4x4x4", "draw", None),
        ("mnk:5x4x4", "draw", None),
        ("mnk:5x5x4", "draw", None),
        ("reversi:4", "loss", None),
        ("connect4:4x5", "draw", None),
        ("connect4:5x4", "draw", None),
    ],
)
def test_published_values(spec: str, value: str, plies: int | None) -> None:
    """m,n,k values as collected by Uiterwijk and van den Herik (2000); Reversi by brute force."""
    solution = solve(z.game(spec).start())
    assert (solution.value, solution.plies, solution.exact) == (value, plies, True)


@pytest.mark.proof
def test_squava_openings() -> None:
    """a1, b1 and b2 win; c1, c2 and the centre lose."""
    game = z.game("squava")
    assert isinstance(game, z.WordGame)
    solver = Solver(game)
    begin = time.process_time()
    signs = {
        m: -solver.sign(game.position(moves=m).state) for m in ("a1", "b1", "b2", "c1", "c2", "c3")
    }
    assert signs == {"a1": 1, "b1": 1, "b2": 1, "c1": -1, "c2": -1, "c3": -1}
    assert time.process_time() - begin < 20


def internal_score(game: z.WordGame, published: int, stones: int) -> int:
    """Convert a published score: 22 minus the stones that the winner will have played."""
    if published == 0:
        return 0
    mover = stones % 2
    winner = mover if published > 0 else 1 - mover
    played = 22 - abs(published)
    plies = (2 * played - 1 if winner == 0 else 2 * played) - stones
    return game.hooks.win_score - plies if published > 0 else plies - game.hooks.win_score


def check_scores(rows: list[dict[str, str]], *, moves: bool) -> None:
    """Check the scores of published Connect Four positions and of each of their moves.

    The score of a position is searched for; those of its moves are only confirmed.
    """
    game = z.game("connect4")
    assert isinstance(game, z.WordGame)
    solver = Solver(game, SolverSettings(table_bits=23))
    for row in rows:
        state, stones = game.position(moves=row["moves"]).state, len(row["moves"])
        assert solver.score(state) == internal_score(game, int(row["score"]), stones)
        for action in game.actions(state) if moves else ():
            child = game.play(state, action)
            expected = internal_score(game, -int(row[f"c{action + 1}"]), stones + 1)
            if game.result(child)[0]:
                assert solver.score(child) == expected
            else:
                assert solver.bounds(child, expected - 1, expected + 1) == (expected, expected)


def published_rows() -> list[dict[str, str]]:
    rows = list(csv.DictReader(truth.lines("connect4/scored_positions.csv")))
    assert len(rows) == 3000
    return rows


def test_published_connect_four_scores() -> None:
    check_scores(published_rows()[::60], moves=True)


@pytest.mark.proof
@pytest.mark.parametrize("part", range(10))
def test_all_published_connect_four_scores(part: int) -> None:
    check_scores(published_rows()[part::10], moves=True)


def check_squava_wins(step: int) -> None:
    game = z.game("squava")
    assert isinstance(game, z.WordGame)
    solver = Solver(game)
    rows = list(csv.reader(truth.lines("squava/won_positions.csv")))
    body = [row for row in rows if row[2] in ("1", "2")]
    assert len(body) > 100
    for first, second, side, winning in (row[:4] for row in body[::step]):
        cells = [0] * 25
        for letters, stone in ((first, 1), (second, -1)):
            for letter in letters.strip():
                cells[ord(letter) - ord("a")] = stone
        position = game.position(cells, int(side) - 1, unchecked=True)
        assert solver.sign(position.state) == 1
        action = ord(winning.strip()) - ord("a")
        assert solver.sign(game.play(position.state, action)) == -1


def test_published_squava_wins() -> None:
    check_squava_wins(20)


@pytest.mark.proof
def test_all_published_squava_wins() -> None:
    check_squava_wins(1)


def check_never_below(spec: str, seat: int, value: int, opening: str = "") -> None:
    """Check `perfect` in one seat against every reply: no game ends below `value` for it."""
    game, player = z.game(spec), z.player("perfect:seed=1")
    pending, seen = [game.position(moves=opening)], set()
    while pending:
        position = pending.pop()
        if position.key in seen:
            continue
        seen.add(position.key)
        if position.is_over:
            winner = position.outcome.winner if position.outcome else None
            assert (0 if winner is None else 1 if winner == seat else -1) >= value, position.moves
        elif position.player == seat:
            pending.append(position.play(player.choose(position).move))
        else:
            pending += [position.play_action(action) for action in position.actions]


@pytest.mark.parametrize("seat", [0, 1])
def test_perfect_never_loses_3x3(seat: int) -> None:
    check_never_below("tictactoe", seat, 0)


def test_perfect_wins_4x4x3_as_first() -> None:
    check_never_below("mnk:4x4x3", 0, 1)


@pytest.mark.proof
@pytest.mark.parametrize("opening", ["a1", "b1", "b2"])
def test_perfect_wins_squava(opening: str) -> None:
    check_never_below("squava", 0, 1, opening)


def test_perfect_wins_squava_late() -> None:
    """The same from a later position."""
    check_never_below("squava", 0, 1, "b2 d4 b4 d2 e3 b1")


def test_perfect_plays_the_fastest_win_and_the_slowest_loss() -> None:
    position = z.game("tictactoe").position("XX./OO./...")
    assert z.player("perfect").choose(position).move == "c1"
    assert solve(position.play("a3")).best == ("c2",)


def test_limits_are_kept_and_estimates_are_not_exact() -> None:
    start = z.game(BOOKLESS).start()
    solve(start, limit=Limit(seconds=0.05))  # compiles
    solutions = [solve(start, limit=Limit(seconds=1)) for _ in range(3)]
    solution = min(solutions, key=lambda s: s.seconds)  # the machine may be busy
    assert 0.95 < solution.seconds < 1.05
    assert (solution.value, solution.exact, solution.plies) == (None, False, None)
    assert solution.best == ("4",)
    assert solution.estimate is not None
    assert -1 < solution.estimate < 1
    assert solution.depth
    assert solution.depth > 8
    by_nodes = solve(start, limit=Limit(nodes=5000))
    assert by_nodes.nodes < 6000
    assert (by_nodes.exact, by_nodes.value) == (False, None)
    assert by_nodes.best[0] in start.legal


def test_a_value_proven_before_the_limit_is_kept() -> None:
    """The limit may come while all best moves are still being listed."""
    position = z.game("gomoku6").position(moves="c3 d4")
    nodes = [200, 1000, 5000, 20_000, 60_000, 120_000, 250_000, 500_000, 1_000_000]
    solutions = [solve(position, limit=Limit(nodes=n)) for n in nodes]
    assert {s.value for s in solutions} == {None, "win"}
    assert all(s.plies == 9 for s in solutions if s.exact)
    assert all(s.estimate is None for s in solutions if s.exact)
    assert all(s.best for s in solutions)
    assert solve(position).plies == 9


def test_ctrl_c_answers_with_an_estimate() -> None:
    solve(z.game(BOOKLESS).start(), limit=Limit(seconds=0.05))  # compiles
    command = [sys.executable, "-m", "zermelo", "solve", BOOKLESS, "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        time.sleep(12 if os.environ.get("ZERMELO_BOUNDS") else 5)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    fields = json.loads(out)
    assert (fields["exact"], fields["value"], fields["best"]) == (False, None, ["4"])
    assert fields["depth"] > 4


@pytest.mark.parametrize("spec", ["tictactoe", "mnk:4x4x3", "squava", "connect4", "reversi:4"])
def test_threads_change_no_answer(spec: str) -> None:
    game, rng = z.game(spec), random.Random(spec)
    assert isinstance(game, z.WordGame)
    solver = Solver(game, SolverSettings(threads=2, table_bits=14, deepening=False))
    for _ in range(10):
        state = late_state(game, rng.randrange(3, 9), rng)
        check_agreement(solver, textbook.TextbookSearch(game, method="both", distance=True), state)
    fields = answer("solve", spec, "--threads", "2", "--moves", OPENINGS.get(spec, ""))
    assert fields["exact"]  # type: ignore[call-overload]
    assert fields["complete"]  # type: ignore[call-overload]


BOOKLESS = "connect4:7x7"  # too large to be solved in a test, and without a shipped book
OPENINGS = {"squava": "a1 e5 b2 d4 a5 c1 e3 c4", "connect4": "44444222112667"}


def test_lines_are_split_among_threads_and_stay_in_order() -> None:
    lines = ["b2", "b2 a1", "zz", "a1 b1 c1", ""] * 4
    given = "\n".join(lines) + "\n"
    one = zermelo("solve", "tictactoe", "--stdin", "--json", given=given)
    two = zermelo("solve", "tictactoe", "--stdin", "--json", "--threads", "2", given=given)
    assert one.returncode == two.returncode == 1

    def facts(text: str) -> list[Any]:
        return [
            {k: v for k, v in json.loads(line).items() if k not in ("seconds", "nodes", "pv")}
            for line in text.splitlines()
        ]

    assert facts(one.stdout) == facts(two.stdout)


def test_a_tablebase_answers_and_a_damaged_one_is_rebuilt(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("ZERMELO_CACHE", str(tmp_path))
    game = z.game("mnk:3x4x3")
    assert isinstance(game, z.WordGame)
    assert solve(game.start()).source == "search"
    Tablebase.build(game).write(tablebase_path(game))
    by_tablebase = solve(game.start())
    assert (by_tablebase.source, by_tablebase.value, by_tablebase.plies) == ("table", "win", 7)
    assert by_tablebase.best == solve(game.start(), solver=Solver(game)).best
    damaged = bytearray(tablebase_path(game).read_bytes())
    damaged[-40] ^= 1
    tablebase_path(game).write_bytes(damaged)
    again = solve(game.start())
    assert (again.source, again.plies) == ("table", 7)
    assert "damaged" in caplog.text
    assert tablebase_path(game).read_bytes() != damaged


def test_an_unsolved_position_is_an_error() -> None:
    with pytest.raises(Unsolved, match="too many for the solver"):
        solve(z.game("gomoku").start())
    done = zermelo("choose", BOOKLESS, "perfect", "--seconds", "0.2")
    assert done.returncode == 2
    assert f"perfect did not solve {BOOKLESS} within 0.2 s" in done.stderr


def test_the_same_search_twice_has_the_same_counts() -> None:
    nodes = {solve(z.game("connect4:4x5").start()).nodes for _ in range(2)}
    assert len(nodes) == 1


@pytest.mark.parametrize("spec", ["mnk:3x3x3", "connect4:4x4", "reversi:4"])
def test_the_kernel_runs_uncompiled(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The score and the number of nodes are the same."""
    results = []
    for compiled in "10":
        monkeypatch.setenv("ZERMELO_JIT", compiled)
        solver, clock = Solver(z.game(spec), SolverSettings(table_bits=12)), SearchClock()
        results.append((solver.score(solver.game.initial(), clock), clock.nodes))
    assert results[0] == results[1]


def test_finished_games_and_goals() -> None:
    end = z.game("tictactoe").position(moves="a1 a2 b1 b2 c1")
    fields = solve(end).to_dict("tictactoe")
    assert (fields["value"], fields["plies"], fields["best"], fields["source"]) == (
        "loss",
        0,
        [],
        "end",
    )
    wdl = solve(z.game("mnk:4x4x3").start(), "wdl")
    assert (wdl.value, wdl.plies, wdl.exact) == ("win", None, True)
    win = solve(z.game("tictactoe").start(), "win")
    assert (win.value, win.exact) == (None, False)
    with pytest.raises(z.ZermeloError, match="goal is 'x'"):
        solve(z.game("tictactoe").start(), "x")


def test_a_plain_game_is_solved_by_the_textbook(tmp_path: Any) -> None:
    from support.user_games import MATCHES

    path = tmp_path / "matches.py"
    path.write_text(MATCHES)
    solution = solve(z.game(str(path)).start())
    assert (solution.value, solution.best) == ("win", ("1",))


def test_command() -> None:
    fields = answer("solve", "connect4", "--moves", "4455")
    assert isinstance(fields, dict)
    assert (fields["value"], fields["score"], fields["best"]) == ("win", 18, ["3", "6"])
    assert fields["to_move"] == 0
    diff = answer("solve", "reversi:4")
    assert isinstance(diff, dict)
    assert (diff["value"], diff["diff"], diff["plies"]) == ("loss", -8, None)
    board = answer("solve", "tictactoe", "--board", "XX./OO./...")
    assert isinstance(board, dict)
    assert (board["moves"], board["plies"], board["best"]) == (None, 1, ["c1"])
    lines = zermelo("solve", "tictactoe", "--stdin", "--json", given="b2\nz9\n")
    assert lines.returncode == 1
    assert len(lines.stdout.splitlines()) == 2
    assert "draw" in zermelo("solve", "tictactoe").stdout


NIM = """
from zermelo import Word, WordGame
from zermelo.core.bitboard import pick, word

class Nim(WordGame):
    \"\"\"Two heaps, take 1 to 3; the last token wins. A state can occur at several plies.\"\"\"
    num_words, num_boards, num_actions = 3, 0, 6
    one: Word = 1

    def initial(self):
        return (14, 11, 0)

    def legal(self, state):
        a, b, _ = state
        first = pick(a == 0, 0, pick(a == 1, 1, pick(a == 2, 3, 7)))
        return first | pick(b == 0, 0, pick(b == 1, 8, pick(b == 2, 24, 56)))

    def play(self, state, action):
        a, b, player = state
        one, taken = self.one, word(action)
        return (
            pick(action < 3, a - taken - one, a),
            pick(action < 3, b, b - taken + one + one),
            player ^ one,
        )

    def result(self, state):
        over = (state[0] | state[1]) == 0
        return over, 0 - 1 * over
"""

TICK = """
from zermelo import SolverHooks, Word, WordGame

class LongGame(SolverHooks):
    win_score: int = 10_000

class Tick(WordGame):
    \"\"\"Forced moves, {last} of them, in states of two words.\"\"\"
    hooks_class = LongGame
    num_words, num_boards, num_actions = 2, 0, 1
    one: Word = 1
    last: Word = {last}

    def initial(self):
        return (0, 0)

    def legal(self, state):
        return self.one

    def play(self, state, action):
        return (state[0] + self.one, state[1] ^ self.one)

    def result(self, state):
        over = state[0] == self.last
        return over, -1 * over
"""


def user_game(folder: Any, name: str, text: str) -> z.Game:
    path = folder / f"{name}.py"
    path.write_text(text)
    return z.game(str(path))


def test_a_state_that_occurs_at_several_plies(tmp_path: Any) -> None:
    game = user_game(tmp_path, "nim", NIM)
    book = textbook.TextbookSearch(game, method="memo", distance=True)
    for moves in ("", "3", "3 1", "1", "0 4 2"):
        position = game.position(moves=moves)
        value, best = book.best_actions(position.state)
        for limit in (None, Limit(seconds=5), Limit(nodes=3000)):
            solution = solve(position, limit=limit)
            if solution.exact:
                assert solution.plies == textbook.WIN_SCORE - abs(value)
                if solution.complete:
                    assert solution.best == tuple(map(str, best))
        assert z.analyze(position, Limit(seconds=5)).plies == textbook.WIN_SCORE - abs(value)


def test_long_games_are_solved_or_refused(tmp_path: Any) -> None:
    long = user_game(tmp_path, "long", TICK.format(last=300)).start()
    assert (solve(long).value, solve(long).plies) == ("loss", 300)
    assert z.analyze(long, Limit(seconds=5)).plies == 300
    endless = user_game(tmp_path, "endless", TICK.format(last=5000)).start()
    for limit in (None, Limit(seconds=1)):
        with pytest.raises(Unsolved, match="can exceed 1,000 plies"):
            solve(endless, limit=limit)
    with pytest.raises(z.TooLarge, match="too long for a recursive search"):
        textbook.solve_position(endless, method="both", depth=None, order="index", distance=False)


def test_limits_and_ctrl_c_hold_with_threads() -> None:
    start = z.game(BOOKLESS).start()
    solver = Solver(start.game, SolverSettings(threads=2))  # type: ignore[arg-type]
    solutions = [solve(start, limit=Limit(seconds=0.5), solver=solver) for _ in range(3)]
    assert min(s.seconds for s in solutions) < 0.6
    few = solve(start, limit=Limit(nodes=100_000), solver=solver)
    assert few.nodes < 115_000
    command = [sys.executable, "-m", "zermelo", "solve", BOOKLESS, "--json", "--threads", "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        time.sleep(12 if os.environ.get("ZERMELO_BOUNDS") else 5)
        process.send_signal(signal.SIGINT)
        begin = time.perf_counter()
        out, _ = process.communicate(timeout=20)
    assert time.perf_counter() - begin < 5
    assert json.loads(out)["exact"] is False


def test_goals_keep_a_move_and_report_what_is_proven() -> None:
    start = z.game("mnk:5x4x4").start()
    for nodes in (1000, 230_000, 260_000, 300_000):
        assert solve(start, "wdl", Limit(nodes=nodes)).best
    no = solve(start, "win").to_dict("mnk:5x4x4")
    assert (no["value"], no["wins"], no["exact"]) == (None, False, False)
    assert solve(z.game("mnk:4x4x3").start(), "win").to_dict("")["wins"] is True


def test_connect_four_scores_count_the_winners_stones() -> None:
    """With a line length that loses, the loser may move last."""
    game = z.game("line:rows=4,cols=4,win=4,lose=2,gravity=true")
    fields = solve(game.position(moves="1 3 2")).to_dict("")
    assert (fields["value"], fields["source"], fields["score"]) == ("win", "end", 8)
