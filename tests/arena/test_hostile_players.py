"""Players that attack the tournament: each forfeits its games, and the others play on."""

import contextlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

import zermelo as z
from support.commands import zermelo
from zermelo.arena import worker_pool
from zermelo.arena.game import describe_crash
from zermelo.arena.plan import Plan
from zermelo.arena.tournament import Interrupted
from zermelo.core.errors import BadSpec, ZermeloError
from zermelo.store.runs import GameRow

posix = pytest.mark.skipif(os.name != "posix", reason="needs fork and process groups")
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs memory limits that are enforced")

HOSTILE = r"""
import os, signal, sys, threading, time
import zermelo as z

print("\x1b[2Jprinted at import")
os.write(1, b"written at import\n")

class Fine(z.Player):
    def think(self, position, limit):
        yield z.Analysis(position.legal[0])

class Surrogate(Fine):
    def think(self, position, limit):
        raise ValueError("\ud800 \x1b[31m \u202e")

class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError("no text")

class NoText(Fine):
    def think(self, position, limit):
        raise Unprintable

class BadAnswer(Fine):
    def choose(self, position, limit=None):
        class Answer:
            @property
            def move(self):
                raise KeyError("move")
        return Answer()

class BadMove(Fine):
    def think(self, position, limit):
        yield z.Analysis("\ud800\x1b[2J")

class Recursive(Fine):
    def think(self, position, limit):
        yield from self.think(position, limit)

class Leave(Fine):
    def think(self, position, limit):
        sys.exit("\ud800")

class Fork(Fine):
    def think(self, position, limit):
        os.fork()
        yield z.Analysis(position.legal[0])

class Chatter(Fine):
    def think(self, position, limit):
        for _ in range(50):
            os.write(1, b"\x1b[31mchatter\r\n" * 1000)
        yield z.Analysis(position.legal[0])

class LeaveChild(Fine):  # the original process ends, and its copy answers
    def think(self, position, limit):
        if os.fork():
            os._exit(7)
        yield z.Analysis(position.legal[0])

class CloseFiles(Fine):
    def think(self, position, limit):
        os.closerange(0, 64)
        yield z.Analysis(position.legal[0])

class Kill(Fine):
    def think(self, position, limit):
        os.killpg(0, signal.SIGKILL)
        yield

class Forge(Fine):  # writes into the worker's own messages
    def think(self, position, limit):
        for fd in range(3, 12):
            try:
                os.write(fd, b'[1, 2]\n{"games": [[1]]}\n')
            except OSError:
                pass
        time.sleep(30)
        yield z.Analysis(position.legal[0])

class Grab(Fine):
    def think(self, position, limit):
        yield z.Analysis(position.legal[len(bytearray(1 << 40)) % 2])

kept = []

class Hoard(Fine):  # keeps nearly all memory, so that somebody else runs out of it
    def think(self, position, limit):
        while True:
            try:
                kept.append(bytes(1 << 20))  # not touched, so this is fast
            except MemoryError:
                break
        yield z.Analysis(position.legal[0])

class Slow(Fine):
    def think(self, position, limit):
        time.sleep(0.3 if len(position.history) < 2 else 0)
        yield z.Analysis(position.legal[0])

class LateExit(Fine):  # kills the process during the turn of somebody else
    def think(self, position, limit):
        threading.Timer(0.15, os._exit, (9,)).start()
        yield z.Analysis(position.legal[0])
"""


@pytest.fixture
def hostile(tmp_path: Path) -> str:
    path = tmp_path / "hostile.py"
    path.write_text(HOSTILE)
    return str(path)


def games_between(result: Any, *names: str) -> list[tuple[Any, ...]]:
    """Return the games between two players, without their times."""
    return [row[:9] for row in result.games if {row.first, row.second} == set(names)]


def own_forfeits(result: Any, name: str) -> list[GameRow]:
    """Return the games that a player has forfeited."""
    return [
        row
        for row in result.games
        if row.reason and name == (row.second if row.outcome == "first" else row.first)
    ]


@posix
def test_a_player_in_a_living_process_cannot_end_the_tournament(hostile: str) -> None:
    reasons = {
        "Surrogate": r"crashed: ValueError: \ud800 \x1b[31m \u202e",
        "NoText": "crashed: Unprintable",
        "BadAnswer": "crashed: KeyError: 'move'",
        "BadMove": r"illegal move '\ud800\x1b[2J'",
        "Leave": r"crashed: SystemExit: \ud800",
    }
    harmless = ["Fork", "Chatter"]
    names = [*reasons, "Recursive", *harmless]
    players = ["random", "greedy", *(f"{hostile}:{name}" for name in names)]
    result = z.tournament("tictactoe", players, games=2)
    assert result.finished
    for name, reason in reasons.items():
        forfeits = own_forfeits(result, f"{hostile}:{name}")
        assert {row.reason for row in forfeits} == {reason}
        assert len(games_between(result, f"{hostile}:{name}", "random")) == 2
    recursive = {row.reason for row in own_forfeits(result, f"{hostile}:Recursive")}
    assert all(reason.startswith("crashed: RecursionError") for reason in recursive)
    assert recursive
    for name in harmless:
        assert not own_forfeits(result, f"{hostile}:{name}")
    # The games of the others are the same if all of these players are well-behaved.
    peaceful = [f"{hostile}:Fine" for _ in names]
    others = z.tournament("tictactoe", ["random", "greedy", *peaceful], games=2)
    assert games_between(result, "random", "greedy") == games_between(others, "random", "greedy")


@posix
def test_a_player_that_ends_its_process_cannot_end_the_tournament(
    hostile: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_pool, "_CLOSING", 0.5)
    reasons = {
        "CloseFiles": "its process died: it closed its connection to the arena",
        "Kill": "its process died: SIGKILL",
        "Forge": "its process died: it closed its connection to the arena",
        "LeaveChild": "its process died: exit code 7",
    }
    players = ["random", "greedy", *(f"{hostile}:{name}" for name in reasons)]
    db = tmp_path / "a.db"

    def interrupt(now: Any) -> None:
        if now.done >= 9:
            raise KeyboardInterrupt

    settings: dict[str, Any] = {"games": 2, "processes": 2, "db": db}
    with pytest.raises(Interrupted) as stopped:
        z.tournament("tictactoe", players, **settings, progress=interrupt)
    assert 9 <= len(stopped.value.result.games) < 30
    result = z.tournament("tictactoe", players, **settings, resume=True)
    assert result.run == 1
    assert result.finished
    assert len(result.games) == 30
    for name, reason in reasons.items():
        spec = f"{hostile}:{name}"
        assert {row.reason for row in own_forfeits(result, spec)} == {reason}
        assert result.standings.head_to_head("random", spec).wins == 2
    peaceful = ["random", "greedy", *(f"{hostile}:Fine" for _ in reasons)]
    others = z.tournament("tictactoe", peaceful, games=2)
    assert games_between(result, "random", "greedy") == games_between(others, "random", "greedy")


@posix
def test_a_death_in_the_turn_of_another_player_is_not_its_fault(hostile: str) -> None:
    late, slow = f"{hostile}:LateExit", f"{hostile}:Slow"
    # The pairs play in this order: the game of `late` with greedy is followed by that of `slow`
    # with random, in which the process dies.
    players = [late, slow, "random", "greedy"]
    result = z.tournament("tictactoe", players, games=2, processes=1)
    assert result.finished
    assert not any(row.reason for row in result.games if late not in (row.first, row.second))
    peaceful = [f"{hostile}:Fine", *players[1:]]
    others = z.tournament("tictactoe", peaceful, games=2, processes=1)
    for pair in ((slow, "random"), (slow, "greedy"), ("random", "greedy")):
        assert games_between(result, *pair) == games_between(others, *pair)


@linux
def test_a_player_that_exceeds_its_memory_limit_forfeits(hostile: str) -> None:
    grab, hoard = f"{hostile}:Grab", f"{hostile}:Hoard"
    players = ["random", grab, hoard, "minimax:depth=2"]  # which needs memory for its kernels
    result = z.tournament("tictactoe", players, games=2, memory=1000)
    assert result.finished
    reasons = {reason for _, reason in result.standings.forfeits}
    assert reasons == {"exceeded its memory limit of 1,000 MB"}
    assert {player for player, _ in result.standings.forfeits} == {grab, hoard}
    for name in ("random", "minimax:depth=2"):
        assert result.standings.head_to_head(name, grab).wins == 2
    others = z.tournament(
        "tictactoe", [*[f"{hostile}:Fine" if p in (grab, hoard) else p for p in players]], games=2
    )
    pair = "random", "minimax:depth=2"
    assert games_between(result, *pair) == games_between(others, *pair)
    assert result.to_dict()["settings"]["memory"] == 1000


def test_a_memory_limit_must_leave_room_for_the_players() -> None:
    with pytest.raises(ZermeloError, match="memory is 64: it must be 0"):
        z.tournament("tictactoe", ["random", "random"], games=2, memory=64)


@posix
def test_what_players_print_never_reaches_stdout(hostile: str) -> None:
    chatter = f"{hostile}:Chatter"
    arena = zermelo("arena", "tictactoe", chatter, "random", "--games", "4", "--json")
    assert json.loads(arena.stdout)["finished"] is True
    assert arena.stdout.count("\n") == 1
    choose = zermelo("choose", "tictactoe", chatter, "--json")
    assert json.loads(choose.stdout)["move"] == "a1"
    plain = zermelo("choose", "tictactoe", chatter)
    assert plain.stdout == "a1\n"
    several = zermelo("choose", "tictactoe", chatter, "--stdin", given="a1\nb1\n")
    assert several.stdout == "b1\na1\n"
    forked = zermelo("choose", "tictactoe", f"{hostile}:Fork")
    assert forked.stdout == "a1\n"
    grade = zermelo("grade", "tictactoe", f"{hostile}:Fine", "--json")
    assert json.loads(grade.stdout)["positions"] == 4520
    for done in (arena, choose, plain, several, grade):
        assert done.returncode == 0, done.stderr
        assert "printed at import" in done.stderr
        assert "written at import" in done.stderr
        assert "\x1b" not in done.stderr
        assert len(done.stderr) < 200_000
    assert "the rest is not shown" in arena.stderr
    assert "the rest is not shown" in choose.stderr


@pytest.mark.parametrize(
    ("code", "part"),
    [
        ("import os; os._exit(3)", "cannot be loaded: its process died (exit code 3)"),
        ("import os; os.closerange(0, 64)", "cannot be loaded: its process died"),
        ("raise ValueError('\\ud800\\x1b')", r"line 1: ValueError: \ud800\x1b"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_refused_in_one_line(
    tmp_path: Path, code: str, part: str
) -> None:
    path = tmp_path / "p.py"
    path.write_text(f"{code}\nimport zermelo as z\nclass A(z.Player):\n  def think(self): ...\n")
    with pytest.raises(BadSpec) as caught:
        z.tournament("tictactoe", [str(path), "random"], games=2)
    assert part in str(caught.value)
    done = zermelo("arena", "tictactoe", str(path), "random", "--json")
    assert done.returncode == 2
    assert done.stdout == ""
    assert part in done.stderr.splitlines()[-1]
    assert "\x1b" not in done.stderr


def test_a_player_that_exits_does_not_count_as_an_answer(hostile: str) -> None:
    for arguments in (["choose", "tictactoe"], ["grade", "tictactoe"]):
        done = zermelo(*arguments, f"{hostile}:Leave", "--json")
        assert done.returncode == 2
        assert done.stdout == ""
        assert "sys.exit" in done.stderr.splitlines()[-1]


def test_the_reason_of_a_crash_is_short_and_printable() -> None:
    assert describe_crash(ValueError("\ud800\n\x1b[2J")) == r"crashed: ValueError: \ud800 \x1b[2J"
    assert len(describe_crash(ValueError("\x1b" * 10**6))) == 200
    assert describe_crash(ValueError()) == "crashed: ValueError"
    evil = type("\x1b[2J", (Exception,), {})
    assert describe_crash(evil("x")) == r"crashed: \x1b[2J: x"


def test_the_parent_never_runs_a_player_file(tmp_path: Path) -> None:
    path = tmp_path / "p.py"
    path.write_text(
        "import os, pathlib\n"
        f"with open({str(tmp_path / 'pids')!r}, 'a') as file: file.write(f'{{os.getpid()}}\\n')\n"
        "import zermelo as z\n"
        "class A(z.Player):\n"
        "  def __init__(self, seed=None): pass\n"
        "  def think(self, position, limit): yield z.Analysis(position.legal[0])\n"
    )
    plan = Plan("tictactoe", (str(path), "random"))
    assert plan.is_stochastic == (True, True)
    result = z.tournament("tictactoe", [str(path), "random"], games=2, processes=1)
    assert result.finished
    pids = {int(pid) for pid in (tmp_path / "pids").read_text().split()}
    assert pids
    assert os.getpid() not in pids


@posix
def test_child_processes_of_a_player_end_with_its_worker(tmp_path: Path) -> None:
    path, pids = tmp_path / "p.py", tmp_path / "pids"
    path.write_text(
        "import os, time\n"
        "import zermelo as z\n"
        "class A(z.Player):\n"
        "  def __init__(self):\n"
        "    if not os.fork():\n"
        f"      with open({str(pids)!r}, 'a') as file: file.write(f'{{os.getpid()}} ')\n"
        "      time.sleep(60)\n"
        "  def think(self, position, limit): yield z.Analysis(position.legal[0])\n"
    )
    result = z.tournament("tictactoe", [str(path), "random"], games=2, processes=1)
    assert result.finished
    assert not any(row.reason for row in result.games)
    children = [int(pid) for pid in pids.read_text().split()]
    assert len(children) >= 2
    for pid in children:
        state = ""
        with contextlib.suppress(OSError):
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        assert state in ("", "Z"), "it has ended"
