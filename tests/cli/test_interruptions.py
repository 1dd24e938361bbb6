"""Ctrl-C at any moment, and closed standard streams: one line, no traceback."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest import mock

import pytest

from support.commands import command

# Runs the command line; the first import of the module argv[1] is interrupted.
_INTERRUPTED_IMPORT = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
name = sys.argv.pop(1)

class Finder:
    def find_spec(self, module, path=None, target=None):
        if module == name:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
sys.argv[0] = "zermelo"
from zermelo.__main__ import main
main()
"""
_TRAIN = ("train", "tictactoe-dqn", "--short", "--out")


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("zermelo.cli", ("games",)),
        ("click", ("games",)),
        ("zermelo.core.game", ("games",)),
        ("numpy", ("solve", "tictactoe")),
        ("numba", ("count", "tictactoe", "--perft", "1")),
        ("zermelo.search.solver.solver", ("solve", "tictactoe")),
        ("numpy", _TRAIN),
        ("torch", _TRAIN),
        ("torch.nn", _TRAIN),
    ],
)
def test_an_interrupted_import(tmp_path: Path, module: str, arguments: tuple[str, ...]) -> None:
    if module.startswith("torch"):
        pytest.importorskip("torch", reason="torch is not installed: nothing to interrupt")
    out = [str(tmp_path / "run")] if arguments is _TRAIN else []
    done = subprocess.run(
        [sys.executable, "-c", _INTERRUPTED_IMPORT, module, *arguments, *out],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "zermelo: stopped\n")


def test_an_interrupted_compilation(tmp_path: Path) -> None:
    """LLVM takes many seconds for the first kernel of a proof; Ctrl-C does not wait for it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "zermelo", "prove", "mnk:4x4x3", "--out", tmp_path / "proof"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "ZERMELO_CACHE": str(tmp_path / "cache")},
    )
    with process:
        deadline = time.monotonic() + 120
        while not list(tmp_path.glob("cache/k_*.py")) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        begin = time.monotonic()
        stdout, stderr = process.communicate(timeout=120)
        seconds = time.monotonic() - begin
    assert (process.returncode, stdout, stderr) == (130, "", "zermelo: stopped\n")
    assert seconds < 2, "usually below 0.1 s"


def test_the_end_of_a_file_is_not_ctrl_c() -> None:
    """Pickles and archives that are too short raise EOFError, as an empty prompt does."""
    with mock.patch("zermelo.games.registry.game", side_effect=EOFError("no more data")):
        code, _out, err = command("count", "tictactoe", "--perft", "1")
    assert code == 2
    assert err == "zermelo: a file or the input ended too early: no more data\n"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(("games",), 0), (("solve", "tictactoe"), 0), (("--help",), 0), (("solve", "chess"), 2)],
)
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams(arguments: tuple[str, ...], code: int, closed: str) -> None:
    """What nobody can read is discarded; the exit code stays."""
    script = f"{sys.executable} -m zermelo {' '.join(arguments)} {closed}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == (code != 0 and "2>&-" not in closed)
    assert bool(done.stdout) == (code == 0 and not closed.startswith((">&-", "<&-")))


def test_a_closed_stream_is_not_the_next_file(tmp_path: Path) -> None:
    """Without stdout, the next file to be opened would get its number, and what is printed."""
    code = "import os, sys; from zermelo.cli import _replace_closed_streams as r; r(); "
    code += f"f = open({str(tmp_path / 'file')!r}, 'w'); os.write(1, b'x'); os.write(2, b'x')"
    script = f'{sys.executable} -c "{code}" >&- 2>&-'
    assert subprocess.run(["bash", "-c", script], check=False).returncode == 0
    assert (tmp_path / "file").read_bytes() == b""


@pytest.mark.parametrize("arguments", ["games", "solve chess", "--help"])
def test_readers_that_go_away(arguments: str) -> None:
    """Both streams go to a pipe without a reader."""
    script = f"{sys.executable} -m zermelo {arguments} 2>&1 | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == ("2\n" if "chess" in arguments else "0\n")
    assert done.stderr == ""
