"""Scripts, each in small: that they run to their end, and refuse nonsense before they work."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from zermelo.games.reversi import patterns

SCRIPTS = Path(__file__).parent.parent / "scripts"


def script(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPTS / name), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_fit_reversi(tmp_path: Path) -> None:
    kept, one, two = (str(tmp_path / name) for name in ("kept.npz", "one.npy", "two.npy"))
    done = script("fit_reversi.py", "20", "--keep", kept, "--out", one)
    assert done.returncode == 0, done.stderr
    assert "positions; the weights explain 0." in done.stdout
    weights = np.load(one)
    assert (weights.dtype, weights.shape) == (np.int8, np.load(patterns.FILE).shape)
    assert weights.any()
    script("fit_reversi.py", "0", "--more", kept, "--out", two)
    assert (np.load(two) == weights).all()


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["0"], "there are no positions to fit"),
        (["-1"], "-1 is below 0"),
        (["many"], "invalid count value: 'many'"),
        (["0", "--more", "README.md"], "README.md is not a file written by --keep"),
        (["9", "--out", "no/such/file"], "is not a file in an existing folder"),
        (["1", "--out", "weights.npy"], "at least two games are needed"),
        (["1"], "are too few for 14,380 weights"),
    ],
)
def test_fit_reversi_refuses(arguments: list[str], part: str) -> None:
    before = patterns.FILE.read_bytes()
    done = script("fit_reversi.py", *arguments)
    assert done.returncode == 2
    assert part in done.stderr.splitlines()[-1]
    assert patterns.FILE.read_bytes() == before


def test_ablate(tmp_path: Path) -> None:
    positions = tmp_path / "positions.txt"
    command = [sys.executable, "-m", "zermelo", "positions", "gomoku6", "--number", "6", "--plies"]
    command += ["14", "20", "--decided", "1", "36", "--out", str(positions)]
    subprocess.run(command, capture_output=True, check=True)
    names = ("unchanged", "no symmetries")
    asked = [word for name in names for word in ("--only", name)]
    done = script("ablate.py", str(positions), "--updates", "8", "--actors", "0", "--short", *asked)
    assert done.returncode == 0, done.stderr
    rows = [line.split("|")[1:-1] for line in done.stdout.splitlines()[2:]]
    assert [row[0].strip() for row in rows] == list(names)
    assert all(0 <= float(row[1].strip(" %")) <= 100 for row in rows)
