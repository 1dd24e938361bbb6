"""Games defined by users: the page in the docs, entry points, and errors in a file."""

import importlib.metadata
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import zermelo as z
from support.commands import zermelo
from support.user_games import MATCHES, PAGE
from zermelo.games import registry, user_code, user_games
from zermelo.search import textbook
from zermelo.search.count import _CountOptions, _python_layers, count
from zermelo.search.playouts import run_playouts

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "domineering.py"


def test_the_page_runs(tmp_path: Path) -> None:
    """Every command on the page prints what the page shows."""
    (tmp_path / "matches.py").write_text(MATCHES)
    (tmp_path / "domineering.py").write_text(EXAMPLE.read_text())
    consoles = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    commands = re.findall(r"\$ (zermelo .*)\n((?:(?!\$).*\n)*)", "".join(consoles))
    assert len(commands) == 4
    python = shlex.quote(sys.executable)
    for command, expected in commands:
        line = command.replace("zermelo ", f"{python} -m zermelo ", 1)
        done = subprocess.run(  # noqa: S602 - the page's own commands, pipes included
            line, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert done.stdout == expected, command


def test_the_page_shows_the_example() -> None:
    """The class on the page is the example's, without types and docstrings."""
    shown = re.search(r"class Domineering.*?```", PAGE, re.DOTALL)[0]  # type: ignore[index]
    example = re.sub(
        r": Any|\) -> [^:]*(?=:)", lambda m: ")" if m[0][0] == ")" else "", EXAMPLE.read_text()
    )
    for line in shown.removesuffix("```").splitlines():
        assert line.partition("  #")[0].strip() in example, line
    assert len(EXAMPLE.read_text().splitlines()) < 80


def test_the_example_counts_the_same_compiled_and_in_python() -> None:
    game = z.game(str(EXAMPLE))
    layers = _python_layers(game, _CountOptions(4, states=True, paths=True, symmetries=()))
    expected = [layer for layer, _ in layers if layer is not None]
    assert list(count(game, max_ply=4).layers) == expected
    tally = run_playouts(game, 1000)
    assert tally.draw == 0
    assert tally.first + tally.second == 1000


def test_a_plain_game_works_everywhere(tmp_path: Path) -> None:
    path = tmp_path / "matches.py"
    path.write_text(MATCHES)
    game = z.game(str(path))
    assert run_playouts(game, 50).draw == 0
    assert game.start().legal == ["1", "2", "3"]
    assert str(game.start()).startswith("(21, 0)")
    assert game.start().svg().startswith("<svg")
    with pytest.raises(z.BadBoard, match="cannot start from a board: give moves instead"):
        game.position("XO")
    done = zermelo("choose", str(path), "random:seed=1")
    assert done.stdout.strip() in "0123"


BAD = [
    ("raise ValueError('heap is empty')", r"own.py, line 1: ValueError: heap is empty"),
    ("import sys\nsys.exit(3)", "own.py, line 2: SystemExit: 3"),
    ("def f(:", "SyntaxError"),
    ("x = 1", "defines no game: write a class derived from zermelo.Game"),
    (
        "import zermelo\nclass A(zermelo.Game): pass",
        "A must define actions, initial, play, player, result",
    ),
    (MATCHES.replace("num_actions = 3", ""), "num_actions"),
    (MATCHES.replace("return state[1]", "return 7"), "player is '7': it must be 0 or 1"),
    (MATCHES.replace("return [action for", "return [str(action) for"), "it must be a list of ints"),
    (MATCHES.replace("range(3)", "range(2, -1, -1)"), "they must ascend between 0 and 2"),
    (
        MATCHES.replace("return over, -1 if over else 0", "return over"),
        "it must be (is_over, value)",
    ),
    (MATCHES.replace("-1 if over else 0", "9"), "must be True or False, and value 1, 0 or -1"),
    (MATCHES.replace("-1 if over else 0", "-1"), "the value must be 0 while the game runs"),
    (MATCHES.replace("return (21, 0)", "return [21, 0]"), "it must be immutable"),
    (MATCHES.replace("state[0] - action - 1", "state[0]"), "did not end within 5,000 plies"),
    (MATCHES.replace("return (state[0]", "return 1 / 0, (state[0]"), "ZeroDivisionError"),
    (
        EXAMPLE.read_text().replace(
            "self.one << action", "self.one << int(action.bit_length() * 0 + action)"
        ),
        "own.py, line 41: play does not compile: an int has no attribute 'bit_length'",
    ),
    (EXAMPLE.read_text().replace("return (0, 0, 0)", "return (0, 0)"), "a tuple of 3 words"),
    (
        EXAMPLE.read_text() + "\nclass B(Domineering): pass",
        "defines several games, Domineering and B",
    ),
]


@pytest.mark.parametrize(("text", "part"), BAD, ids=lambda v: v[-30:] if "\n" not in v else "")
def test_a_bad_file_is_one_clear_line(tmp_path: Path, text: str, part: str) -> None:
    path = tmp_path / "own.py"
    path.write_text(text)
    done = zermelo("count", str(path), "--perft", "2")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert part in done.stderr


def test_loading_a_file_that_never_returns_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_code, "_MAX_SECONDS", 0.5)
    path = tmp_path / "own.py"
    path.write_text("while True: pass")
    with pytest.raises(z.BadSpec, match="it may loop forever"):
        z.game(str(path))
    path.write_text(MATCHES.replace("over = state[0] == 0", "while True: pass"))
    with pytest.raises(z.BadSpec, match="it may loop forever"):
        z.game(str(path))


def test_user_code_cannot_swallow_the_time_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_code, "_MAX_SECONDS", 0.5)
    path = tmp_path / "own.py"
    path.write_text("while True:\n    try:\n        sum(range(99))\n    except Exception: pass")
    with pytest.raises(z.BadSpec, match="it may loop forever"):
        z.game(str(path))


RANDOM = "__import__('random').randrange(2)"
TOGGLE = "next(numbers) % 2"
#: changes that turn a rule into one that is no function
UNREPEATABLE = {
    "initial": ("return (21, 0)", f"return (21 + {TOGGLE}, 0)"),
    "player": ("return state[1]", f"return {TOGGLE}"),
    "actions": ("range(3) if action", f"range(3 - {TOGGLE}) if action"),
    "play": ("state[0] - action - 1,", f"max(0, state[0] - action - 1 - {RANDOM}),"),
    "result": ("return over, -1 if over else 0", f"return over, 2 * ({TOGGLE}) - 1 if over else 0"),
    "to_text": ("return str(action + 1)", f"return str(action + 1) + 'ab'[{TOGGLE}]"),
}


@pytest.mark.parametrize("rule", UNREPEATABLE)
def test_a_rule_that_is_no_function_is_refused_by_name(rule: str, tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    numbers = "import itertools\nnumbers = itertools.count()\n"
    path.write_text(numbers + MATCHES.replace(*UNREPEATABLE[rule]))
    done = zermelo("solve", str(path))
    assert done.returncode == 2
    assert done.stdout == ""
    assert re.fullmatch(
        rf".*own\.py: this game's {rule} returned .+ and then .+ for .+, but rules must be "
        r"functions, without random numbers, clocks or variables that change: games with chance "
        r"are not supported\n",
        done.stderr,
    )


def test_a_bitboard_game_with_random_rules_is_refused(tmp_path: Path) -> None:
    text = EXAMPLE.read_text().replace(
        "first = self.one << action", f"first = self.one << {RANDOM}"
    )
    path = tmp_path / "own.py"
    path.write_text(text)
    with pytest.raises(z.BadSpec, match="this game's play returned"):
        z.game(str(path))


def test_a_rule_that_depends_on_earlier_games_is_refused(tmp_path: Path) -> None:
    """Two calls in a row agree, but the heap that the game starts with shrinks."""
    path = tmp_path / "own.py"
    path.write_text(
        "calls = 0\n"
        + MATCHES.replace(
            "return [action for",
            "global calls\n    calls += 1\n    most = 3 if calls < 200 else 2\n"
            "    return [action for",
        ).replace("in range(3)", "in range(most)")
    )
    with pytest.raises(z.BadSpec, match="this game's actions returned '\\[0, 1, 2\\]' and then"):
        z.game(str(path))


def test_states_that_do_not_compare_by_value_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(
        "class Box:\n    def __init__(self, *parts): self.parts = parts\n"
        "    def __getitem__(self, i): return self.parts[i]\n    def __repr__(self): return 'Box'\n"
        + MATCHES.replace("return (state[0]", "return Box(state[0]")
    )
    with pytest.raises(z.BadSpec, match=r"play returned 'Box' .* states must compare by value"):
        z.game(str(path))


LATE = """
num_actions = 2
calls = 0
def initial(): return (0, 0)
def player(state): return state[1]
def actions(state): return [] if state[0] >= 40 else [0, 1]
def play(state, action):
    global calls
    calls += 1
    return (state[0] + 1 + action + (calls > 20_000 and calls % 3 == 0), 1 - state[1])
def result(state): return state[0] >= 40, -1 if state[0] >= 40 else 0
"""


@pytest.mark.parametrize("method", ["solve", "textbook", "value-iteration", "count", "mcts"])
def test_a_search_refuses_rules_that_change_after_the_trial(method: str, tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(LATE)
    game = z.game(str(path))
    game.play.__globals__["calls"] = 30_000  # type: ignore[attr-defined]
    runs = {
        "solve": lambda: z.solve(game.start()),
        "textbook": lambda: textbook.solve_position(game.start(), method="both"),
        "value-iteration": lambda: textbook.solve_position(game.start(), method="value-iteration"),
        "count": lambda: z.count(game),
        "mcts": lambda: z.player("mcts:sims=50").choose(game.start()),
    }
    with pytest.raises(z.BadSpec, match=r"own\.py: this game's play returned"):
        runs[method]()


WALK = """
num_actions = 2
def initial(): return (3, 0)
def player(state): return state[1]
def actions(state): return [] if state[0] in (0, 6) else [0, 1]
def play(state, action): return (state[0] + 2 * action - 1, 1 - state[1])
def result(state): return state[0] in (0, 6), -1 if state[0] in (0, 6) else 0
"""


def test_games_with_cycles(tmp_path: Path) -> None:
    """A random walk on 0 to 6 may never end: its states can be counted, its games cannot."""
    path = tmp_path / "walk.py"
    path.write_text(WALK)
    game = z.game(str(path))
    assert count(game, paths=False).states == 7
    with pytest.raises(z.TooLarge, match="endless games"):
        count(game)
    assert count(game, states=False, max_ply=40).perft(3) == [2, 4, 8]


def test_a_file_is_loaded_again_after_an_edit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, heap in (("a", 21), ("b", 5)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "own.py").write_text(MATCHES.replace("21", str(heap)))
    monkeypatch.chdir(tmp_path / "a")
    assert z.game("own.py").initial() == (21, 0)
    monkeypatch.chdir(tmp_path / "b")
    assert z.game("own.py").initial() == (5, 0)
    (tmp_path / "b" / "own.py").write_text(MATCHES.replace("21", "7"))
    assert z.game("own.py").initial() == (7, 0)


def test_an_error_during_a_game_names_the_file_and_line(tmp_path: Path) -> None:
    """The trial plays a few random games only, so a rule can still fail later."""
    path = tmp_path / "own.py"
    rare = (
        "if state[0] == 20 and len(str(action)) == 1 and 'choose' in __import__('sys').argv: 1 / 0"
    )
    path.write_text(
        MATCHES.replace("return [action for", f"action = 0\n    {rare}\n    return [action for")
    )
    done = zermelo("choose", str(path), "random", "--moves", "1")
    assert done.returncode == 2
    assert "ZeroDivisionError" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_missing_file() -> None:
    assert "there is no such file" in zermelo("count", "nowhere.py", "--games").stderr


def test_entry_points(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "my_matches.py").write_text(EXAMPLE.read_text())
    monkeypatch.syspath_prepend(str(tmp_path))
    point = importlib.metadata.EntryPoint("dominoes", "my_matches:Domineering", user_games.GROUP)

    def entry_points(group: str, name: str = "dominoes") -> list[importlib.metadata.EntryPoint]:
        return [point] if group == user_games.GROUP and name == "dominoes" else []

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    registry._named_game.cache_clear()
    assert z.game("dominoes").num_actions == 36
    with pytest.raises(z.BadSpec, match="dominoes"):
        z.game("domino")
    registry._named_game.cache_clear()


def test_names_never_load_files(tmp_path: Path) -> None:
    trap = tmp_path / "trap.py"
    trap.write_text("raise SystemExit('loaded')")
    with pytest.raises(z.BadSpec, match="unknown game"):
        registry.named_game(str(trap))


def test_resuming_a_saved_file_game_requires_the_file_to_be_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZERMELO_HOME", str(tmp_path))
    path = tmp_path / "matches.py"
    path.write_text(MATCHES)
    zermelo("play", str(path), "--second", "human", given="1\n")
    refused = zermelo("play", "--resume")
    assert refused.returncode == 2
    assert f"zermelo play {path} --resume" in refused.stderr
    assert "  1. 1" in zermelo("play", str(path), "--resume", given="history\n").stdout
