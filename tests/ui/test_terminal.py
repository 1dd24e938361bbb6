"""Games in the terminal, through pipes and on a pseudo-terminal."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import zermelo as z
from support.commands import zermelo
from support.examples import EXAMPLE_FILES, random_game
from support.piece_games import BOXES, BOXES_MOVERS, BOXES_WIN, BREAKTHROUGH
from zermelo.ui import texts

SNAPSHOTS = Path(__file__).parent / "snapshots"
COMMANDS = [
    "hint",
    "why",
    "undo",
    "redo",
    "rules",
    "history",
    "board",
    "save",
    "load",
    "level",
    "swap",
    "resign",
    "quit",
    "help",
]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ZERMELO_HOME", str(tmp_path))
    return tmp_path


def test_a_whole_game_of_two_humans(home: Path) -> None:
    done = zermelo("play", "tictactoe", "--second", "human", given="b2\na1\nc1\n1\na3\n")
    assert done.returncode == 0
    assert done.stdout == (
        "tictactoe: human (X) against human (O).\n"
        "Moves: cells a1 to c3, or indices 0 to 8. Type help for more.\n\n"
        "   a   b   c\n1  .   .   .\n2  .   .   .\n3  .   .   .\n\n"
        "X to move: You played: b2 (4)\n"
        "   a   b   c\n1  .   .   .\n2  .  (X)  .\n3  .   .   .\n\n"
        "O to move: You played: a1 (0)\n"
        "   a   b   c\n1 (O)  .   .\n2  .   X   .\n3  .   .   .\n\n"
        "X to move: You played: c1 (2)\n"
        "   a   b   c\n1  O   .  (X)\n2  .   X   .\n3  .   .   .\n\n"
        "O to move: You played: b1 (1)\n"
        "   a   b   c\n1  O  (O)  X\n2  .   X   .\n3  .   .   .\n\n"
        "X to move: You played: a3 (6)\n"
        "   a   b   c\n1  O   O  [X]\n2  .  [X]  .\n3 [X]  .   .\n\n"
        "X wins.\n"
    )
    assert not list(home.rglob("*.json"))


def test_no_humans(home: Path) -> None:
    done = zermelo("play", "connect4", "--first", "random:seed=1", "--second", "random:seed=2")
    assert done.returncode == 0
    assert "wins." in done.stdout
    assert "to move" not in done.stdout


def test_commands(home: Path) -> None:
    given = "undo\nhistory\nb2\nundo\nhelp\nboard\na1\nb1\nhistory\nresign\n"
    done = zermelo("play", "tictactoe", "--second", "human", given=given)
    for part in ("There is no move to take back.", "No moves yet.", "Took back 1 move."):
        assert part in done.stdout
    assert "  1. a1  b1" in done.stdout
    assert "O wins: X resigned." in done.stdout


def test_the_human_is_called_you_against_a_program(home: Path) -> None:
    lost = zermelo("play", "tictactoe", given="resign\n").stdout
    assert lost.startswith("tictactoe: you (X) against random (O).")
    assert lost.endswith("You lose: you resigned.\n")
    move = {"move": "b3", "value": "win", "estimate": None, "plies": 7, "best": True}
    assert texts.candidate_text(move, ("you", "AI")) == "* b3   you win in 4 moves"
    assert texts.candidate_text(move | {"value": "loss"}, ("you", "AI"))[7:] == "AI wins in 4 moves"


def test_help_names_every_command(home: Path) -> None:
    done = zermelo("play", "tictactoe", "--second", "human", given="help\n")
    for command in COMMANDS:
        assert re.search(rf"^{command}\b", done.stdout, re.MULTILINE)
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "pie rule" not in done.stdout
    pie = zermelo("play", "squava:pie=true", "--second", "human", given="help\n")
    assert "swap is a legal move by the pie rule" in pie.stdout


def test_rules(home: Path) -> None:
    done = zermelo("play", "squava", "--second", "human", given="rules\n")
    assert "Three in a row lose at once, unless they are part of a row that wins.\n" in done.stdout


def test_redo(home: Path) -> None:
    given = "a1\nb1\nundo\nundo\nredo\nredo\nredo\nundo\nc3\nredo\nhistory\n"
    done = zermelo("play", "tictactoe", "--second", "human", given=given)
    assert done.stdout.count("Played 1 move again.") == 2
    assert done.stdout.count("There is no move to play again.") == 2
    assert "  1. a1  c3" in done.stdout


def test_redo_brings_the_reply_back(home: Path) -> None:
    done = zermelo("play", "squava", given="a1\nhistory\nundo\nredo\nhistory\n")
    assert "Played 2 moves again." in done.stdout
    first, second = re.findall(r"  1\. (a1  \w\w)", done.stdout)
    assert first == second


def test_history_shows_the_seconds(home: Path) -> None:
    done = zermelo("play", "tictactoe", "--second", "human", given="a1\nb1\nc1\nhistory\n")
    assert re.search(r"  1\. a1  b1  0\.\d s, 0\.\d s\n  2\. c1      0\.\d s\n", done.stdout)
    again = zermelo("play", "--resume", given="b2\nhistory\n")
    assert re.search(r"  1\. a1  b1\n  2\. c1  b2  0\.\d s\n", again.stdout)


def test_save_and_load_by_name(home: Path) -> None:
    given = "b2\na1\nsave my-game_1\nc1\nload my-game_1\nhistory\nsave\nundo\nload\nhistory\n"
    done = zermelo("play", "tictactoe", "--second", "human", given=given)
    assert "Saved as my-game_1. To continue it, type load my-game_1." in done.stdout
    assert done.stdout.count("  1. b2  a1\n") == 2
    other = zermelo("play", "connect4", given="load my-game_1\nhistory\n")
    assert "tictactoe: human (X) against human (O)." in other.stdout
    assert "  1. b2  a1\n" in other.stdout
    missing = zermelo("play", "connect4", given="load other\n")
    assert "There is no game saved as other: the saved games are my-game_1" in missing.stdout


LAST_MOVE = """
from zermelo import Analysis, Player


class Last(Player):
    def think(self, position, limit):
        yield Analysis(position.legal[-1])
"""


def test_a_save_runs_no_file_that_is_not_named(home: Path, tmp_path: Path) -> None:
    folder = home / "saved" / "named"
    folder.mkdir(parents=True)
    for name, game, second in [("a", "x.py", "human"), ("b", "tictactoe", "y z.py")]:
        text = f'{{"game":"{game}","first":"human","second":"{second}","moves":[]}}'
        (folder / f"{name}.json").write_text(text)
    done = zermelo("play", "tictactoe", "--second", "human", given="load a\nload b\nb2\n")
    assert "if you name it: zermelo play x.py, then load a." in done.stdout
    assert "name it: zermelo play tictactoe --second 'y z.py', then load b." in done.stdout
    assert "You played: b2" in done.stdout


def test_a_game_against_a_file_is_resumed_if_the_file_is_named(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(LAST_MOVE)
    options = ("play", "tictactoe", "--second", str(path))
    done = zermelo(*options, given="a1\nsave here\nb2\nload here\nhistory\n")
    assert "  1. a1  c3\n" in done.stdout
    command = f"zermelo play tictactoe --resume --second {path}"
    assert f"Game saved. Continue it with: {command}\n" in done.stdout
    refused = zermelo("play", "--resume")
    assert refused.returncode == 2
    assert refused.stderr.endswith(f"is run only if you name it: {command}\n")
    again = zermelo(*command.split()[1:], given="b1\nhistory\n")
    assert "  1. a1  c3\n  2. b1  b3" in again.stdout
    nobody = zermelo("play", "--resume", "--second", "nobody")
    assert "unknown player 'nobody'" in nobody.stderr
    other = zermelo("play", "--resume", "--second", "human", given="a2\nhistory\n")
    assert "tictactoe: human (X) against human (O)." in other.stdout
    assert "  3. a2" in other.stdout


def test_quitting_at_once_keeps_the_earlier_save(home: Path) -> None:
    zermelo("play", "tictactoe", "--second", "human", given="b2\n")
    assert "saved" not in zermelo("play", "tictactoe", given="quit\n").stdout
    assert "  1. b2" in zermelo("play", "--resume", given="undo\nhistory\nb2\nhistory\n").stdout


def test_level_and_swap_change_the_opponent(home: Path) -> None:
    given = "level 10\nb2\nswap\nlevel 1\nhistory\n"
    done = zermelo("play", "tictactoe", given=given)
    assert "tictactoe: you (X) against level:10 (O)." in done.stdout
    assert "tictactoe: level:10 (X) against you (O)." in done.stdout
    assert "level:10 (X) plays" in done.stdout
    assert "tictactoe: level:1 (X) against you (O)." in done.stdout


def test_swap_plays_the_move_if_it_is_legal(home: Path) -> None:
    given = "swap\na1\nswap\nhistory\n"
    done = zermelo("play", "squava:pie=true", "--second", "human", given=given)
    assert "You play both sides" in done.stdout
    assert "You played: swap" in done.stdout
    assert "  1. a1    swap" in done.stdout


GAMES = {
    "tictactoe": (
        ["tictactoe", "--second", "human"],
        "hint/b2/a2/why a1/hint/a1/save x/b1/load x/c3/undo/redo/c1/history/a3/b1/c3",
    ),
    "connect4": (["connect4", "--second", "human"], "4/4/3/x/3/2/undo/5/2/8/history/6"),
    "reversi": (["reversi:4", "--second", "human"], "c4/b4/a1/d2/d4/d3/a2/c1/a4/a3/b1/d1/pass/d1"),
    "squava": (
        ["squava:pie=true", "--second", "human", "--indices"],
        "help/swap/b2/swap/d2/swap/b3/d1/b4",
    ),
    "engines": (["gomoku6", "--first", "greedy:seed=1", "--second", "minimax:2,seed=1"], ""),
}


@pytest.mark.parametrize(
    ("spec", "typed", "echo"),
    [
        ("squava", "33", "c3 (33)"),
        ("squava", "c3", "c3 (33)"),
        ("tictactoe", "4", "b2 (4)"),
        ("gomoku", "h8", "h8 (112)"),
        ("connect4", "d", "4"),
        ("reversi", "d3", "d3"),
        ("line:rows=10,cols=5,win=4,lose=3", "c3", "c3"),
    ],
)
def test_the_echo_shows_the_short_form_that_is_accepted(
    home: Path, spec: str, typed: str, echo: str
) -> None:
    shown = zermelo("play", spec, "--second", "human", given=f"{typed}\n").stdout
    assert f"You played: {echo}\n" in shown
    move, _, digits = echo.partition(" ")
    if digits:
        game = z.game(spec)
        assert game.parse_action(game.initial(), digits.strip("()")) == game.parse_action(
            game.initial(), move
        )


@pytest.mark.parametrize("name", GAMES)
def test_transcripts_of_whole_games(home: Path, name: str) -> None:
    arguments, words = GAMES[name]
    shown = zermelo("play", *arguments, given=words.replace("/", "\n") + "\n").stdout
    shown = re.sub(r"[\d,]+ nodes?, \d", "0 nodes, 0", shown)
    shown = re.sub(r"\d+\.\d+ s", "0.0 s", shown)
    assert "saved." not in shown  # all of them are finished
    path = SNAPSHOTS / f"play-{name}.txt"
    if os.environ.get("ZERMELO_UPDATE"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(shown)
    assert shown == path.read_text()


def on_terminal(*arguments: str, typed: str, **environment: str) -> str:
    """Return what a terminal of 80 columns receives."""
    master, slave = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "zermelo", "play", *arguments],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        env=os.environ | {"TERM": "xterm-256color", "COLUMNS": "80", **environment},
    ) as process:
        os.close(slave)
        os.write(master, typed.encode())
        seen = b""
        while True:
            try:
                some = os.read(master, 10_000)
            except OSError:  # the other side has closed
                break
            if not some:
                break
            seen += some
        assert process.wait(20) == 0
    os.close(master)
    return seen.decode()


def test_colours_only_on_a_terminal_that_wants_them(home: Path) -> None:
    both = ("tictactoe", "--second", "human")
    seen = on_terminal(*both, typed="b2\na1\nquit\n")
    colours = {int(n) for n in re.findall(r"\x1b\[(\d+)m", seen)}
    assert colours
    assert all(n < 10 or 30 <= n <= 37 or 90 <= n <= 97 for n in colours)  # the terminal's palette
    for plain in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert not re.search(r"\x1b\[\d+m", on_terminal(*both, typed="b2\nquit\n", **plain))
    assert "\x1b" not in zermelo("play", *both, given="b2\n").stdout


def test_indices_are_left_out_if_they_do_not_fit(home: Path) -> None:
    done = zermelo("play", "gomoku:size=19", "--second", "human", "--indices", given="j10\n")
    assert max(map(len, done.stdout.splitlines())) <= 80
    wide = zermelo("play", "gomoku:size=19", "--second", "human", "--indices", COLUMNS="120")
    assert " 360" in wide.stdout


def test_the_full_screen_says_what_is_missing(home: Path, tmp_path: Path) -> None:
    pipe = zermelo("play", "tictactoe", "--full-screen")
    assert pipe.returncode == 2
    assert "needs a terminal" in pipe.stderr
    (tmp_path / "textual").mkdir()
    (tmp_path / "textual" / "__init__.py").write_text(
        "raise ModuleNotFoundError('No module named textual', name='textual')"
    )
    missing = zermelo("play", "tictactoe", "--full-screen", PYTHONPATH=str(tmp_path))
    assert missing.returncode == 2
    assert missing.stderr.count("\n") == 1
    assert "pip install 'zermelo[tui]'" in missing.stderr


def test_undo_goes_back_to_the_human(home: Path) -> None:
    done = zermelo("play", "squava", given="a1\nundo\nhistory\nquit\n")
    assert "Took back 2 moves." in done.stdout
    assert "No moves yet." in done.stdout


BAD = {
    "": "is not a cell",
    "   ": "is not a cell",
    "b2": "the cell is taken",
    "4": "the cell is taken",
    "z9": "outside",
    "a4": "outside",
    "9": "outside",
    "-1": "is not a cell",
    "1e3": "is not a cell",
    "\u00b2": "is not a cell",
    "\u0662": "is not a cell",
    "\uff42\uff12": "is not a cell",
    "b\u0327": "is not a cell",
    "\U0001f600": "is not a cell",
    "\u202eb2": "is not a cell",
    "\x00": "is not a cell",
    "\x1b[A": "is not a cell",
    "\x1b]0;title\x07": "is not a cell",
    "a1\x08": "is not a cell",
    "a1; rm": "is not a cell",
    "a1 b1": "is not a cell",
    "$(ls)": "is not a cell",
    "pass": "is not a cell",
    "x" * 1_000_000: "A line of 1,000,000 characters is too long",
    "why " + "x" * 1_000_000: "characters is too long",
    "why": "Name a move, as in: why a1",
    "why b2": "the cell is taken",
    "why \u00b2": "is not a cell",
    "undo 3": "undo takes no argument",
    "redo": "There is no move to play again",
    "save ../x": "is not a valid name",
    "save \x00": "is not a valid name",
    "save " + "x" * 41: "is not a valid name",
    "load nothing": "there is no game saved as nothing",
    "load": "there is no game of tictactoe",
    "level": "Name a level from 1",
    "level x": "it must be a whole number",
    "level 99": "it must be 1 to 10",
    "level \x00": "level",
    "swap": "You play both sides",
}


def test_bad_input_is_explained_and_asked_for_again(home: Path) -> None:
    lines = "\n".join(["b2", *BAD, "a1", "quit\n"])
    done = zermelo("play", "tictactoe", "--second", "human", given=lines)
    assert done.returncode == 0
    answers = done.stdout.split("O to move: ")[1:]
    assert len(answers) == len(BAD) + 1
    for (bad, part), answer in zip(BAD.items(), answers, strict=False):
        assert part.lower() in answer.lower(), (bad[:50], answer)
        assert len(answer) < 300
        assert "\x1b" not in answer
    assert "You played: a1 (0)" in answers[-1]


def test_invalid_utf8_is_answered(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "zermelo", "play", "tictactoe", "--second", "human"],
        input=b"\xff\xfe\n\xc3\nb2",  # the input ends in the middle of a line
        capture_output=True,
        check=True,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
    )
    assert done.stdout.count(b"is not a cell") == 2
    assert b"You played: b2" in done.stdout
    assert b"Game saved." in done.stdout


def test_end_of_input_saves_and_resume_continues(home: Path) -> None:
    done = zermelo("play", "tictactoe", "--second", "human", given="b2\na1\n")
    assert done.returncode == 0
    assert "Continue it with: zermelo play --resume" in done.stdout
    again = zermelo("play", "--resume", given="history\nc1\nb1\na3\n")
    assert "  1. b2  a1" in again.stdout
    assert "X wins." in again.stdout
    gone = zermelo("play", "--resume")
    assert gone.returncode == 2
    assert "there is no game to resume" in gone.stderr


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[1]",
        "\x00",
        '{"game": 1}',
        '{"game":"tictactoe","first":"human"}',
        "9" * 200_000,
        "[" * 90_000,
    ],
)
def test_a_damaged_save_is_refused(home: Path, text: str) -> None:
    (home / "saved").mkdir()
    (home / "saved" / "tictactoe.json").write_text(text)
    done = zermelo("play", "--resume")
    assert done.returncode == 2
    assert "not a saved game" in done.stderr


def test_a_save_with_illegal_moves_is_refused(home: Path) -> None:
    text = '{"game":"tictactoe","first":"human","second":"human","moves":["a1","a1"]}'
    (home / "saved").mkdir()
    (home / "saved" / "tictactoe.json").write_text(text)
    done = zermelo("play", "--resume")
    assert done.returncode == 2
    assert "the cell is taken" in done.stderr


class Running:
    """A game in another process."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "zermelo", "play", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )
        self.text = ""

    def type(self, line: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()

    def read_to(self, part: str, seconds: float = 30.0) -> None:
        assert self.process.stdout
        end = time.perf_counter() + seconds
        while part not in self.text:
            left = end - time.perf_counter()
            assert left > 0, self.text
            if select.select([self.process.stdout], [], [], left)[0]:
                some = os.read(self.process.stdout.fileno(), 10_000)
                assert some, self.text
                self.text += some.decode()
        self.text = self.text.partition(part)[2]

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def end(self) -> str:
        rest, _ = self.process.communicate(timeout=20)
        assert self.process.returncode == 0
        return self.text + rest.decode()


def test_ctrl_c_saves(home: Path) -> None:
    running = Running("tictactoe", "--second", "human")
    running.type("b2")
    running.read_to("O to move: ")
    running.interrupt()
    assert "Game saved." in running.end()
    assert "  1. b2" in zermelo("play", "--resume", given="history\n").stdout


@pytest.mark.parametrize("player", ["mcts:seconds=10", "alphabeta:10"])
def test_ctrl_c_stops_thinking_within_a_tenth_of_a_second(home: Path, player: str) -> None:
    running = Running("connect4", "--second", player)
    took = []
    for move in ["4", "4", "5", "5"]:
        running.read_to("X to move: ")
        running.type(move)
        running.read_to(f"You played: {move}")
        time.sleep(1.0)
        begin = time.perf_counter()
        running.interrupt()
        running.read_to(" plays ")
        took.append(time.perf_counter() - begin)
    running.read_to("X to move: ")
    running.type("quit")
    running.end()
    # On a busy machine the first second is spent loading, not thinking.
    assert min(took[1:]) < 0.1, took


def test_ctrl_c_stops_a_game_without_humans(home: Path) -> None:
    running = Running("connect4", "--first", "random", "--second", "mcts:seconds=10")
    running.read_to("random (X) plays")
    time.sleep(0.7)
    running.interrupt()
    assert "Game saved." in running.end()


def test_why_calls_a_move_an_estimate_even_beside_a_proven_win(home: Path) -> None:
    given = "h8 a1 i8 a3 j8 a5".replace(" ", "\n") + "\nhint\nwhy o15\n"
    done = zermelo("play", "gomoku", "--second", "human", "--seconds", "1", given=given)
    hint, why = done.stdout.split("X to move: ")[-3:-1]
    assert "X wins" in hint
    assert "wins by force" in hint
    assert "(proven by search; " in hint
    assert "o15  " in why
    assert "(estimate" in why


def test_a_hint_can_be_stopped_early(home: Path) -> None:
    running = Running("gomoku", "--second", "human", "--seconds", "10")
    running.type("hint")
    running.read_to("X to move: ")
    time.sleep(1.0)
    running.interrupt()
    running.read_to("estimate", 5.0)
    running.type("quit")
    running.end()


def test_the_first_prompt_comes_within_a_second(home: Path) -> None:
    took = []
    for _ in range(3):
        begin = time.perf_counter()
        running = Running("tictactoe")
        running.read_to("X to move: ")
        took.append(time.perf_counter() - begin)
        running.type("quit")
        running.end()
        if took[-1] < 1.0:
            break
    assert min(took) < 1.0


def test_each_game_has_its_own_save(home: Path) -> None:
    zermelo("play", "connect4", "--second", "human", given="4\n")
    zermelo("play", "tictactoe", "--first", "random", "--second", "random")
    zermelo("play", "tictactoe", "--second", "human", given="b2\n")
    assert "tictactoe" in zermelo("play", "--resume", given="history\n").stdout
    assert "  1. 4" in zermelo("play", "connect4", "--resume", given="history\n").stdout
    missing = zermelo("play", "squava", "--resume")
    assert "there is no game of squava to resume" in missing.stderr


def test_a_game_that_cannot_be_saved_is_reported(home: Path) -> None:
    (home / "saved").write_text("in the way")
    done = zermelo("play", "tictactoe", "--second", "human", given="b2\na1\n")
    assert done.returncode == 0
    assert "The game could not be saved" in done.stdout
    assert "b2 a1" in done.stdout


def test_undo_before_the_first_own_move_takes_nothing_back(home: Path) -> None:
    done = zermelo("play", "tictactoe", "--first", "random", "--second", "human", given="undo\n")
    assert "There is no move to take back." in done.stdout


def test_the_last_line_says_why_the_game_ended(home: Path) -> None:
    moves = "e4 a9 e6 c9 d5 i9 f5 i7 e5".replace(" ", "\n")
    done = zermelo("play", "gomoku:size=9,renju=true", "--second", "human", given=f"{moves}\n")
    assert "O wins: X made a double three." in done.stdout
    both = ["play", "reversi:4", "--first", "random:seed=1", "--second", "random:seed=2"]
    assert "-" in zermelo(*both).stdout.splitlines()[-1]


def test_moves_from_cell_to_cell_are_typed(home: Path) -> None:
    """With --indices the moves are listed, since no empty cell can show them."""
    typed = "b5b4\na2b4\nb5b4\nundo\nF2F3\nquit\n"
    done = zermelo("play", BREAKTHROUGH, "--second", "human", "--indices", given=typed)
    assert done.returncode == 0
    assert "Moves: a5a4, a5b4, b5a4 and so on. Type help for more." in done.stdout
    assert "\nMoves: a5a4 a5b4 b5a4 b5b4 b5c4 c5b4 c5c4 c5d4 d5c4 d5d4" in done.stdout
    assert "You played: b5b4\n" in done.stdout
    assert "4  .  (X)  .   .   .   .\n5  X  (.)  X   X   X   X\n" in done.stdout
    assert "Illegal move 'a2b4'" in done.stdout
    assert "O to move: Took back 1 move." in done.stdout
    assert "X to move: Illegal move 'F2F3'" in done.stdout


def test_a_game_with_extra_turns_and_without_a_grid(home: Path) -> None:
    typed = "\n".join((*BOXES_WIN[:5], "history", *BOXES_WIN[5:], ""))
    done = zermelo("play", BOXES, "--second", "human", "--indices", given=typed)
    assert "  4. O a2b2" in done.stdout
    assert "  5. O b1c1" in done.stdout
    assert done.stdout.count("O to move: You played") == BOXES_MOVERS.count(1)
    assert done.stdout.endswith("O wins, 3 to 1.\n")


@pytest.mark.parametrize("spec", EXAMPLE_FILES)
def test_a_whole_game_of_each_example(home: Path, spec: str) -> None:
    moves, end = random_game(spec)
    typed = "\n".join([*(move for move, _ in moves), ""])
    done = zermelo("play", spec, "--second", "human", given=typed)
    assert done.stdout.count("You played") == len(moves)
    assert done.stdout.endswith(f"{end.verdict}.\n")
