"""Tournaments: plans, forfeits, resuming, the sequential test, and output."""

import contextlib
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import zermelo as z
from support.commands import zermelo
from support.piece_games import BOXES
from support.studio import assert_refused, serve
from zermelo.arena import charts, report, worker_pool
from zermelo.arena.charts import Axis, Mark
from zermelo.arena.plan import Plan
from zermelo.core.errors import BadSpec, ZermeloError
from zermelo.learn.models import files as model_files
from zermelo.players.registry import is_stochastic, load_builtin_player, with_seed
from zermelo.store.matches import MatchRow, MatchStore
from zermelo.store.runs import GameRow, RunStore
from zermelo.studio.app import create_app

linux = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")

FAULTS = """
import ctypes, os, signal, sys, threading, time
import zermelo as z

class Fine(z.Player):
    def think(self, position, limit):
        yield z.Analysis(position.legal[0])

class Crash(z.Player):
    def think(self, position, limit):
        raise ValueError("<b>boom</b>")
        yield

class Illegal(z.Player):
    def think(self, position, limit):
        yield z.Analysis("z9")

class NoText(z.Player):
    def think(self, position, limit):
        yield z.Analysis(7)

class Nothing(z.Player):
    def choose(self, position, limit=None):
        return None

    def think(self, position, limit):
        yield

class Leave(z.Player):
    def think(self, position, limit):
        sys.exit(0)
        yield

class Exit(z.Player):
    def think(self, position, limit):
        if len(position.history) >= 2:
            os._exit(3)
        yield z.Analysis(position.legal[0])

class Segfault(z.Player):
    def think(self, position, limit):
        ctypes.string_at(0)
        yield

class Unborn(z.Player):
    def __init__(self):
        raise RuntimeError("not today")

    def think(self, position, limit):
        yield

class Loud(z.Player):
    def think(self, position, limit):
        print("this is no protocol", flush=True)
        yield z.Analysis(position.legal[-1])

class Hang(z.Player):
    def think(self, position, limit):
        if len(position.history) >= 2:
            while True:
                pass
        yield z.Analysis(position.legal[0])

class Stop(z.Player):
    def think(self, position, limit):
        os.kill(os.getpid(), signal.SIGSTOP)
        yield

class Slow(z.Player):
    def think(self, position, limit):
        time.sleep(limit.seconds + 1.05)
        yield z.Analysis(position.legal[0])

class Pause(z.Player):
    def think(self, position, limit):
        time.sleep(0.02)
        yield z.Analysis(position.legal[0])

class ShortPause(z.Player):
    def think(self, position, limit):
        time.sleep(0.004)
        yield z.Analysis(position.legal[0])

class Close(z.Player):
    def think(self, position, limit):
        os.closerange(3, 256)
        time.sleep(60)
        yield

class Sleep(z.Player):
    def think(self, position, limit):
        time.sleep(60)
        yield z.Analysis(position.legal[0])

class Stochastic(z.Player):
    def __init__(self, seed=None):
        self.seed = seed
        self.inner = z.player("random" if seed is None else f"random:seed={seed}")

    def think(self, position, limit):
        yield from self.inner.think(position, limit)
"""


@pytest.fixture
def faults(tmp_path: Path) -> str:
    path = tmp_path / "faults.py"
    path.write_text(FAULTS)
    return str(path)


def without_times(row: GameRow) -> tuple[Any, ...]:
    """Return a game without its times."""
    return row[:9]


def stored_games(path: Path, run: int = 1) -> list[tuple[Any, ...]]:
    with RunStore(path) as store:
        return [without_times(row) for row in store.game_rows(run)]


# Plans and games.


def test_json_fields() -> None:
    done = zermelo("arena", "tictactoe", "perfect", "random", "--games", "10", "--json")
    found = json.loads(done.stdout)
    assert done.stderr == ""
    assert found["players"] == ["perfect", "random"]
    assert [(r["first"], r["second"]) for r in found["results"]] == [
        ("perfect", "random"), ("random", "perfect"),
    ]  # fmt: skip
    assert all(r["wins"] + r["draws"] + r["losses"] == 5 for r in found["results"])
    assert found["results"][0]["losses"] == found["results"][1]["wins"] == 0
    assert set(found["elo"]) == {"perfect", "random"}
    assert {"rating", "low", "high"} <= set(found["elo"]["random"])
    assert found["elo"]["perfect"]["rating"] > 0
    assert found["repeated_games"] == 0
    assert found["finished"] is True


def test_every_pair_plays_from_both_sides() -> None:
    plan = Plan("connect4", ("random", "greedy", "random"), games=4)
    assert plan.names == ("random", "greedy", "random (2)")
    assert plan.total == 12
    fixtures = [plan.fixture(number) for number in range(plan.total)]
    assert [f.seats for f in fixtures[:6]] == [(0, 1), (0, 2), (1, 2), (1, 0), (2, 0), (2, 1)]
    assert [f.opening for f in fixtures] == [0] * 6 + [1] * 6
    assert Counter(f.pair for f in fixtures) == {0: 4, 1: 4, 2: 4}


def test_openings() -> None:
    plan = Plan("connect4", ("random", "random"), seed=3)
    game = z.game("connect4")
    seen = {plan.sample_opening(number) for number in range(40)}
    assert all(len(opening) == 2 for opening in seen)
    assert len(seen) > 20
    assert plan.sample_opening(7) == Plan("connect4", ("random", "greedy"), seed=3).sample_opening(
        7
    )
    assert plan.sample_opening(7) != Plan("connect4", ("random", "random"), seed=4).sample_opening(
        7
    )
    plies = {
        spec: Plan(spec, ("random", "random")).num_opening_plies
        for spec in ("tictactoe", "mnk:4x4x4", "mnk:4x5x4", "gomoku")
    }
    assert plies == {"tictactoe": 0, "mnk:4x4x4": 0, "mnk:4x5x4": 2, "gomoku": 2}
    # No opening ends the game, although nearly every random game would be over by then.
    long = Plan("connect4", ("random", "random"), opening_plies=12)
    for number in range(30):
        position = game.start()
        for action in long.sample_opening(number):
            assert action in position.actions
            position = position.play_action(action)
        assert not position.is_over
        assert len(position.moves or ()) == 12


def test_an_opening_is_shorter_if_every_move_would_end_the_game() -> None:
    plan = Plan("tictactoe", ("random", "random"), opening_plies=9)
    lengths = {len(plan.sample_opening(number)) for number in range(50)}
    assert max(lengths) == 8  # the ninth move always ends the game
    rows = z.tournament(
        "tictactoe", ["random", "random"], games=4, opening_plies=8, processes=1
    ).games
    assert all(len(row.moves.split()) - row.opening == 1 for row in rows)


def test_a_game_depends_only_on_the_settings_and_its_number() -> None:
    players = ["random", "greedy", "lookahead:2"]
    one = z.tournament("tictactoe", players, games=12, seed=5, processes=1)
    two = z.tournament("tictactoe", players, games=12, seed=5, processes=2)
    more = z.tournament("tictactoe", players, games=14, seed=5, processes=2)
    other = z.tournament("tictactoe", players, games=12, seed=6, processes=2)
    assert list(map(without_times, one.games)) == list(map(without_times, two.games))
    assert list(map(without_times, one.games)) == list(map(without_times, more.games[:36]))
    assert list(map(without_times, one.games)) != list(map(without_times, other.games))
    assert one.standings.results == two.standings.results
    assert one.standings.ratings == two.standings.ratings


def test_rows_describe_the_game() -> None:
    result = z.tournament("connect4", ["random", "greedy"], games=6, processes=1)
    for row in result.games:
        position = z.game("connect4").position(moves=row.moves)
        assert position.outcome is not None
        assert position.outcome.value == row.outcome
        assert row.opening == 2
        assert row.first_moves + row.second_moves + 2 == len(row.moves.split())
        assert row.first_moves - row.second_moves in (0, 1)
        assert row.first_seconds > 0
        assert row.reason == ""
    odd = z.tournament(
        "connect4", ["random", "greedy"], games=2, opening_plies=3, processes=1
    ).games
    assert all(row.second_moves - row.first_moves in (0, 1) for row in odd)


def test_moves_are_counted_for_the_side_that_plays_them() -> None:
    """In Boxes a player who completes a box moves again."""
    result = z.tournament(BOXES, ["random", "random:seed=1"], games=6, processes=1)
    for row in result.games:
        movers = (z.game(BOXES).position(moves=row.moves).movers or [])[row.opening :]
        assert (row.first_moves, row.second_moves) == (movers.count(0), movers.count(1))
    assert any(abs(row.first_moves - row.second_moves) > 1 for row in result.games)


def check_random_games(games: int, tolerance: float) -> None:
    """Check outcomes of random tic-tac-toe: 58.49% first wins, 12.70% draws, 28.81% losses."""
    result = z.tournament("tictactoe", ["random", "random"], games=games)
    ends = Counter(row.outcome for row in result.games)
    assert sum(ends.values()) == games
    for outcome, percent in (("first", 58.49), ("draw", 12.70), ("second", 28.81)):
        assert 100 * ends[outcome] / games == pytest.approx(percent, abs=tolerance)
    assert result.standings.repeated == 0
    rating = result.standings.ratings["random"]
    assert rating.low <= 0 <= rating.high


def test_10000_random_games() -> None:
    check_random_games(10_000, 2.0)  # four standard deviations


@pytest.mark.proof
def test_100000_random_games() -> None:
    begin = time.monotonic()
    check_random_games(100_000, 0.62)
    assert time.monotonic() - begin < 120


def test_repeated_games_are_counted_and_not_rated() -> None:
    result = z.tournament(
        "tictactoe", ["minimax:depth=2", "minimax:depth=3"], games=20, processes=1
    )
    assert len({row.moves for row in result.games}) <= 2
    assert result.standings.repeated == 18
    assert result.standings.ratings["minimax:depth=2"].games == 2
    found = result.to_dict()
    assert found["repeated_games"] == 18
    assert sum(r["wins"] + r["draws"] + r["losses"] for r in found["results"]) == 20
    # A stochastic player may repeat a game by chance; with a fixed seed it always does.
    for spec, repeated in (("random", 0), ("random:seed=1", 8)):
        found = z.tournament(
            "tictactoe", [spec, "minimax:depth=2"], games=10, processes=1
        ).to_dict()
        assert found["repeated_games"] == repeated


def test_stochastic_players() -> None:
    stochastic = ("random", "level:3", "mcts:sims=10")
    deterministic = (
        "mcts:sims=10,evaluator=heuristic",
        "greedy",
        "perfect",
        "minimax:depth=2",
        "random:seed=1",
        "level:level=3,seed=2",
    )
    assert all(is_stochastic(spec) for spec in stochastic)
    assert not any(is_stochastic(spec) for spec in deterministic)


def test_a_player_that_cannot_play_the_game_is_refused_at_once() -> None:
    for spec in ("dqn:no-such-model", "mcts:evaluator=nonsense", "dqn:tictactoe-dqn"):
        with pytest.raises(z.ZermeloError):
            z.tournament("squava", [spec, "random"], games=2, processes=1)


def test_a_changed_model_is_another_tournament(tmp_path: Path) -> None:
    model = tmp_path / "model.safetensors"
    model.write_bytes(model_files.find_model_file("tictactoe-dqn").read_bytes())
    before = Plan("tictactoe", (f"dqn:{model}", "random")).to_dict()
    assert str(model) in before["files"]


# Forfeits.


def test_a_player_that_closes_the_pipe_forfeits(faults: str) -> None:
    result = z.tournament("tictactoe", [f"{faults}:Close", "random"], games=2, processes=1)
    assert result.finished
    assert all(row.reason.startswith("its process died") for row in result.games)
    assert result.standings.head_to_head("random", f"{faults}:Close").wins == 2


def test_a_player_that_fails_forfeits_and_the_others_play_on(faults: str) -> None:
    reasons = {
        "Crash": "crashed: ValueError: <b>boom</b>",
        "Illegal": "illegal move 'z9'",
        "NoText": "answered with int instead of a move",
        "Nothing": "answered with NoneType instead of a move",
        "Leave": "crashed: SystemExit: 0",
        "Exit": "its process died: exit code 3",
        "Segfault": "its process died: SIGSEGV",
        "Unborn": "crashed: BadSpec: .*not today",
    }
    players = ["random", f"{faults}:Loud", *(f"{faults}:{name}" for name in reasons)]
    result = z.tournament("tictactoe", players, games=2)
    assert len(result.games) == result.plan.total == 90
    assert result.finished
    for name, reason in reasons.items():
        spec = f"{faults}:{name}"
        forfeits = [r for r in result.games if r.reason and spec in (r.first, r.second)]
        own = [r for r in forfeits if spec == (r.second if r.outcome == "first" else r.first)]
        assert own, name
        assert all(re.fullmatch(reason, row.reason) for row in own), own
        against = [row for row in result.games if {row.first, row.second} == {spec, "random"}]
        assert len(against) == 2
        if name != "Exit":  # which may lose by the rules before it exits
            assert all(row in own for row in against)
    assert {player for player, _ in result.standings.forfeits} == set(players[2:])
    # The moves before the death of a process are known.
    exits = [row for row in result.games if "exit code" in row.reason]
    assert all(len(row.moves.split()) >= 2 for row in exits)
    assert all(row.first_moves + row.second_moves == len(row.moves.split()) for row in exits)


def test_a_player_that_hangs_is_killed_and_forfeits(
    faults: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_pool, "_WARM_UP_FILE", 0.5)
    players = [f"{faults}:Fine", f"{faults}:Hang", f"{faults}:Stop"]
    result = z.tournament("tictactoe", players, games=2, patience=1.0)
    rows = [row for row in result.games if row.reason]
    assert {row.reason for row in rows} == {"no answer within 1 s"}
    hung = [row for row in rows if "Stop" not in row.first + row.second]
    assert len(hung) == 2
    assert all(2 <= len(row.moves.split()) <= 3 for row in hung)
    assert all(max(row.first_seconds, row.second_seconds) > 1 for row in hung)
    assert result.standings.head_to_head(f"{faults}:Fine", f"{faults}:Stop").wins == 2


def test_a_player_that_exceeds_its_time_limit_forfeits(faults: str) -> None:
    result = z.tournament("tictactoe", [f"{faults}:Slow", "random"], games=2, seconds=0.05)
    reason = r"exceeded its time limit of 0.05 s: [12]\.\d s"
    assert all(re.fullmatch(reason, row.reason) for row in result.games)
    assert result.to_dict()["forfeits"] == [
        {"player": f"{faults}:Slow", "reason": "exceeded its time limit of 0.05 s", "games": 2}
    ]


def test_a_player_that_keeps_its_limit_does_not_forfeit() -> None:
    result = z.tournament("connect4", ["alphabeta:seconds=0.02", "random"], games=4, seconds=0.02)
    assert not result.standings.forfeits


@linux
def test_a_worker_killed_from_outside_does_not_cost_a_game(faults: str) -> None:
    players = ["random", f"{faults}:Pause"]
    settings: dict[str, Any] = {"games": 24, "seed": 2, "processes": 2}
    undisturbed = z.tournament("tictactoe", players, **settings)
    killed: list[int] = []  # the number of games done at each kill

    def disturb(now: Any) -> None:
        # So far apart that no game is disturbed three times: that would be its player's fault.
        if now.done > (killed[-1] if killed else 0) + 5 and len(killed) < 3:
            os.kill(children(os.getpid())[-1], signal.SIGKILL)
            killed.append(now.done)

    disturbed = z.tournament("tictactoe", players, **settings, progress=disturb)
    assert len(killed) == 3
    assert list(map(without_times, disturbed.games)) == list(map(without_times, undisturbed.games))


def test_rules_that_fail_are_reported_and_blame_no_player(tmp_path: Path) -> None:
    path = tmp_path / "odd.py"
    path.write_text(
        "num_actions = 3\n"
        "def initial(): return (0, 0)\n"
        "def player(state): return state[0] % 2\n"
        "def actions(state): return [0, 1, 2] if state[0] < 3 else []\n"
        "def play(state, action):\n"
        "    import os\n"
        "    if os.environ.get('ODD'): raise KeyError('lost')\n"
        "    return (state[0] + 1, action)\n"
        "def result(state): return state[0] >= 3, 0\n"
    )
    env = {**os.environ}
    command = [sys.executable, "-m", "zermelo", "arena", str(path), "random", "random"]
    fine = subprocess.run([*command, "--games", "4"], env=env, capture_output=True, check=False)
    assert fine.returncode == 0
    odd = subprocess.run(
        command, env={**env, "ODD": "1"}, capture_output=True, text=True, check=False
    )
    assert odd.returncode == 2
    assert "line 7: KeyError: 'lost'" in odd.stderr


# Players in files.


def test_players_in_files(faults: str, tmp_path: Path) -> None:
    position = z.game("tictactoe").start()
    assert z.player(f"{faults}:Fine").choose(position).move == "a1"
    assert z.player(f"{faults}:Stochastic,seed=4").seed == 4  # type: ignore[attr-defined]
    assert z.player(f"{faults}:Fine").name == f"{faults}:Fine"
    assert with_seed(f"{faults}:Stochastic", 9) == f"{faults}:Stochastic,seed=9"
    assert with_seed(f"{faults}:Fine", 9) == f"{faults}:Fine"
    assert is_stochastic(f"{faults}:Stochastic")
    assert not is_stochastic(f"{faults}:Fine")
    alone = tmp_path / "alone.py"
    alone.write_text(
        "import zermelo as z\nclass A(z.Player):\n def think(self, position, limit):\n"
        "  yield z.Analysis('a1')\n"
    )
    assert z.player(str(alone)).choose(position).move == "a1"
    assert with_seed(str(alone), 9) == str(alone)


@pytest.mark.parametrize(
    ("text", "suffix", "part"),
    [
        ("x = 1", "", "defines no player: write a class"),
        (FAULTS, "", "defines several players"),
        (FAULTS, ":Nobody", "defines no player 'Nobody', only Fine"),
        (FAULTS, ":Fine,seed=1", "takes no seed"),
        (FAULTS, ":Fine,Crash", "more than one class"),
        (FAULTS, ":Fine,speed=1", "unknown parameter 'speed'"),
        ("import zermelo as z\nclass A(z.Player): pass", "", "A must define think"),
        (
            "import zermelo as z\nclass A(z.Player):\n def __init__(self, net): pass\n think = 1",
            "",
            "A has required arguments net",
        ),
        ("raise ValueError('no')", "", "line 1: ValueError: no"),
        ("import sys; sys.exit(5)", "", "SystemExit: 5"),
        (None, "", "there is no such file"),
    ],
)
def test_the_error_of_a_bad_player_file_is_one_line(
    tmp_path: Path, text: str | None, suffix: str, part: str
) -> None:
    path = tmp_path / "p.py"
    if text is not None:
        path.write_text(text)
    with pytest.raises(BadSpec, match=re.escape(part)) as caught:
        z.player(f"{path}{suffix}")
    assert path.name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_edited_player_file_is_loaded_again(tmp_path: Path) -> None:
    path = tmp_path / "p.py"
    body = "import zermelo as z\nclass A(z.Player):\n def think(self, position, limit):\n"
    path.write_text(body + "  yield z.Analysis('a1')\n")
    position = z.game("tictactoe").start()
    assert z.player(str(path)).choose(position).move == "a1"
    path.write_text(body + "  yield z.Analysis('b2')\n")
    os.utime(path, (1, 1))
    assert z.player(str(path)).choose(position).move == "b2"


def test_the_studio_runs_no_files(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    path = tmp_path / "evil.py"
    path.write_text(
        f"import pathlib; pathlib.Path({str(ran)!r}).touch()\n"
        "import zermelo as z\nclass A(z.Player):\n"
        " def think(self, position, limit):\n  yield z.Analysis(position.legal[0])\n"
    )
    for spec in (str(path), f"{path}:A", f" {path} "):
        with pytest.raises(BadSpec, match="unknown player"):
            load_builtin_player(spec)
    db = tmp_path / "m.db"
    with MatchStore(db) as store:  # as if an attacker had put it there
        store.add(MatchRow("evil", "tictactoe", "human", str(path), "b2", 1))
    for studio in serve(create_app(db)):
        for spec in (str(path), f"{path}:A"):
            assert_refused(studio.post("matches", game="tictactoe", second=spec), 422)
            assert_refused(studio.get("analysis", game="tictactoe", player=spec), 422)
        assert_refused(studio.post("matches/evil/reply"), 422)
    assert not ran.exists()
    z.player(str(path))
    assert ran.exists(), "loading the file would have left its mark"


# Storing and resuming.


def children(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        tasks = Path(f"/proc/{pid}/task").iterdir()
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    return []


def is_alive(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def wait_until(condition: Callable[[], bool], seconds: float = 20) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "timed out"
        time.sleep(0.02)


def num_stored(path: Path) -> int:
    """Return the number of stored games, read by another connection."""
    with (
        contextlib.suppress(sqlite3.Error),
        contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as base,
    ):
        return int(base.execute("SELECT count(*) FROM games").fetchone()[0])
    return 0


@linux
def test_killed_ten_times_and_resumed_it_ends_as_if_uninterrupted(
    tmp_path: Path, faults: str
) -> None:
    players = ["random", f"{faults}:ShortPause"]
    arguments = ["arena", "tictactoe", *players, "--games", "450", "--seed", "4"]
    whole, torn = tmp_path / "whole.db", tmp_path / "torn.db"
    assert zermelo(*arguments, "--db", str(whole), "--json").returncode == 0
    rng = random.Random(1)
    command = [sys.executable, "-m", "zermelo", *arguments, "--db", str(torn), "--resume"]
    kept: list[int] = []
    for moment in range(10):
        running = subprocess.Popen(
            command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        if moment % 3:  # in the middle; otherwise at the start
            wait_until(lambda: num_stored(torn) > (kept or [0])[-1])
        time.sleep(rng.uniform(0, 0.15 if moment % 3 else 0.6))
        workers = children(running.pid)
        if moment % 2:
            running.kill()
        else:
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        wait_until(lambda ended=workers: not any(map(is_alive, ended)))  # orphans end by themselves
        kept.append(num_stored(torn))
    assert kept == sorted(kept), "a stored game is never lost"
    assert 0 < kept[-1] < 450, kept
    done = json.loads(zermelo(*arguments, "--db", str(torn), "--resume", "--json").stdout)
    assert stored_games(torn) == stored_games(whole)
    assert len(stored_games(whole)) == 450
    begin = time.monotonic()
    again = json.loads(zermelo(*arguments, "--db", str(torn), "--resume", "--json").stdout)
    assert time.monotonic() - begin < 5
    assert again == done
    with contextlib.closing(sqlite3.connect(torn)) as base:
        assert base.execute("SELECT count(*), max(state) FROM runs").fetchall() == [(1, "finished")]


@linux
def test_orphans_end_even_while_a_player_thinks(faults: str) -> None:
    command = [sys.executable, "-m", "zermelo", "arena", "tictactoe", f"{faults}:Sleep", "random"]
    command += ["--processes", "2"]
    with subprocess.Popen(command, start_new_session=True) as running:
        wait_until(lambda: len(children(running.pid)) == 2)
        time.sleep(1)
        workers = children(running.pid)
        running.kill()
    wait_until(lambda: not any(map(is_alive, workers)), seconds=5)


@linux
def test_ctrl_c_stores_the_games_and_says_how_to_continue(tmp_path: Path, faults: str) -> None:
    db = tmp_path / "a.db"
    players = ["random", f"{faults}:ShortPause"]
    arguments = ["arena", "tictactoe", *players, "--games", "200", "--db", str(db)]
    command = [sys.executable, "-m", "zermelo", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        wait_until(lambda: num_stored(db) > 0)
        os.killpg(running.pid, signal.SIGINT)  # like a terminal, also to the workers
        stdout, stderr = running.communicate(timeout=20)
    assert running.returncode == 0
    assert "random" in stdout
    assert re.search(r"stopped after \d+ of 200 games; continue with: zermelo .*--resume", stderr)
    assert stderr.count("\n") == 1, stderr
    kept = stored_games(db)
    assert 0 < len(kept) < 200
    assert zermelo(*arguments, "--resume").returncode == 0
    assert len(stored_games(db)) == 200
    assert [row for row in stored_games(db) if row in kept] == kept


def test_a_run_is_resumed_only_with_the_same_settings(tmp_path: Path) -> None:
    db, player = tmp_path / "a.db", tmp_path / "p.py"
    player.write_text(FAULTS)
    players = [f"{player}:Fine", "random"]

    def run(**settings: Any) -> int | None:
        options = {"games": 2, "processes": 1, "db": db, "resume": True, **settings}
        return z.tournament("tictactoe", players, **options).run

    assert run() == run() == 1
    assert run(processes=2) == 1
    assert run(seed=1) == 2
    assert run(games=3) == 3
    assert run(opening_plies=1) == 4
    assert run(resume=False) == 5
    assert run() == 5
    player.write_text(FAULTS + "# another player now")
    assert run() == 6


def test_readers_are_not_disturbed(tmp_path: Path) -> None:
    db = tmp_path / "a.db"
    counts: list[int] = []
    problems: list[str] = []
    over = threading.Event()

    def look() -> None:
        while not over.is_set():
            try:
                with contextlib.closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True)) as base:
                    counts.append(base.execute("SELECT count(*) FROM games").fetchone()[0])
                    assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            except sqlite3.Error as error:
                problems.append(str(error))
            time.sleep(0.01)

    RunStore(db).close()
    readers = [threading.Thread(target=look) for _ in range(3)]
    for reader in readers:
        reader.start()
    result = z.tournament("tictactoe", ["random", "random"], games=10_000, db=db)
    time.sleep(0.1)
    over.set()
    for reader in readers:
        reader.join()
    assert problems == []
    assert len(set(counts)) > 3, "games are stored bit by bit"
    assert max(counts) == len(result.games) == 10_000
    with contextlib.closing(sqlite3.connect(db)) as base:
        ratings = dict(base.execute("SELECT player, rating FROM ratings").fetchall())
        assert ratings == {n: r.rating for n, r in result.standings.ratings.items()}
        assert base.execute("SELECT name, spec FROM players ORDER BY name").fetchall() == [
            ("random", "random"), ("random (2)", "random"),
        ]  # fmt: skip


# The sequential test.


def test_a_sequential_test_stops_at_its_decision(tmp_path: Path) -> None:
    players, db = ["greedy", "random"], tmp_path / "a.db"
    settings: dict[str, Any] = {"games": 2000, "sprt": (0, 50)}
    one = z.tournament("tictactoe", players, **settings, processes=1, db=db)
    two = z.tournament("tictactoe", players, **settings, processes=2, db=db)
    assert one.sprt is not None
    assert one.sprt["accepted"] == "H1"
    assert len(one.games) == 2 * one.sprt["openings"] < 400
    assert list(map(without_times, one.games)) == list(map(without_times, two.games))
    assert one.to_dict() == {**two.to_dict(), "run": 1, "seconds_per_move": pytest.approx(
        two.to_dict()["seconds_per_move"], rel=10)}  # fmt: skip
    assert stored_games(db, 1) == stored_games(db, 2) == list(map(without_times, one.games))
    again = z.tournament("tictactoe", players, **settings, db=db, resume=True)
    assert again.run == 2
    assert again.sprt == two.sprt
    other = z.tournament("tictactoe", players[::-1], **settings)
    assert other.sprt is not None
    assert other.sprt["accepted"] == "H0"
    still = z.tournament(
        "tictactoe", ["minimax:depth=2", "minimax:depth=3"], games=60, sprt=(0, 50)
    )
    assert still.sprt is not None
    assert still.sprt["accepted"] is None
    assert still.sprt["openings"] == 1, "repeated games do not count"
    text = zermelo("arena", "tictactoe", *players, "--games", "2000", "--sprt", "0,50").stdout
    assert "greedy is better than random by more than 0 Elo (H1)" in text


# Scripts and output.


def test_a_script_needs_no_main_guard(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import zermelo as z\n"
        "result = z.tournament('tictactoe', ['greedy', 'random'], games=10)\n"
        "print(len(result.games), callable(z.tournament), result.finished)\n"
    )
    for command in ([str(script)], ["-c", script.read_text()]):
        done = subprocess.run(
            [sys.executable, *command], capture_output=True, text=True, check=True, timeout=60
        )
        assert done.stdout == "10 True True\n"
        assert done.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["tictactoe", "random"], "a tournament needs at least two players, not 1"),
        (["chess", "random", "random"], "unknown game 'chess'"),
        (["tictactoe", "random", "nobody"], "unknown player 'nobody'"),
        (["tictactoe", "random", "human"], "human needs a screen"),
        (["tictactoe", "random", "gone.py"], "there is no such file"),
        (["tictactoe", "random", "random", "--resume"], "--resume needs --db"),
        (["tictactoe", "random", "random", "--sprt", "50,0"], "in ascending order, such as 0,50"),
        (["tictactoe", "random", "random", "--sprt", "x"], "is not a pair of Elo differences"),
        (["tictactoe", "random", "random", "greedy", "--sprt", "0,5"], "needs two players"),
        (["tictactoe", "random", "random", "--games", "0"], "0 is not in the range"),
        (
            ["tictactoe", "random", "random", "--html", "/no/where/a.html"],
            "the folder does not exist",
        ),
        (["tictactoe", "random", "random", "--db", "/dev/null/a.db"], "cannot be used as a store"),
    ],
)
def test_the_error_of_bad_arguments_is_one_line(arguments: list[str], part: str) -> None:
    done = zermelo("arena", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert part in done.stderr
    assert done.stderr.count("\n") == 1


def test_bad_settings_in_python() -> None:
    for settings in ({"games": 0}, {"opening_plies": -1}, {"resume": True}, {"sprt": (5, 5)}):
        with pytest.raises(ZermeloError):
            z.tournament("tictactoe", ["random", "random"], **settings)  # type: ignore[arg-type]


def test_the_printed_table(faults: str) -> None:
    done = zermelo("arena", "tictactoe", "random", "random", f"{faults}:Crash", "--games", "4")
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["player", "1", "2", "3", "Elo", "95%", "time/move"]
    assert any(line.startswith("3  ") and "0-0-4" in line for line in lines)
    assert "12 games" in done.stdout
    assert f"{faults}:Crash forfeited 8 games: crashed: ValueError: <b>boom</b>" in lines


def test_the_report_is_self_contained(faults: str, tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    players = ["random", "level:2", "level:9", f"{faults}:Crash"]
    done = zermelo(
        "arena", "tictactoe", *players, "--games", "4", "--seed", "3", "--html", str(out)
    )
    assert done.returncode == 0, done.stderr
    text = out.read_text()
    assert not re.search(r"<script|<link|src=|url\(|@import|https?:", text)
    assert "prefers-color-scheme:dark" in text
    assert text.count("<svg") == 2
    assert text.count("<polyline") == 1, "a line connects the two levels"
    assert "crashed: ValueError: &lt;b&gt;boom&lt;/b&gt;" in text
    assert "<b>" not in text
    assert "--seed 3" in text
    assert f"Zermelo {z.__version__}" in text


def test_markup_in_names_is_escaped() -> None:
    plan = Plan("tictactoe", ("random", "greedy"))
    plan.__dict__["names"] = ("<img src=x>", 'a"&b')
    rows = [GameRow(0, *plan.names, 0, "a1", "first", "<i>", 1, 1, 0.5, 0.25)]
    from zermelo.arena.standings import compute_standings
    from zermelo.arena.tournament import Result

    result = Result(
        plan, tuple(rows), compute_standings(plan, rows), finished=True, run=None, sprt=None
    )
    text = report.to_html(result, "zermelo arena '<u>'", {"cpu": "<s>"})
    assert not re.search(r"<(img|i|u|s)[ >]", text)
    assert "&lt;img src=x&gt;" in text


def test_axes_contain_their_values() -> None:
    for values in ([0.0], [-3.0, 450.0], [1234.5, 1234.6], [-1e-3, 2e-3]):
        axis = Axis.linear(values, "")
        assert axis.low <= min(values) <= max(values) <= axis.high
        assert 2 <= len(axis.ticks) <= 9
    axis = Axis.seconds([4e-5, 0.7], "")
    assert 0 < axis.position(4e-5) < axis.position(0.7) < 1
    assert [text for _, text in axis.ticks] == ["10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s"]
    marks = [Mark(1, 1, "one"), Mark(1, 1, "two"), Mark(1, 1, "three")]
    svg = charts.draw_chart("c", Axis.linear([0, 2], "x"), Axis.linear([0, 2], "y"), marks, 200)
    heights = re.findall(r'y="([\d.]+)">(?:one|two|three)<', svg)
    assert len(set(heights)) == 3, "labels do not cover each other"
