"""`make shell`: a shell in which the command is found, after `make` has set up the environment."""

import shutil
import subprocess
from pathlib import Path

import pytest

from support.paths import ROOT


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_the_shell_finds_the_command(tmp_path: Path) -> None:
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    binaries = tmp_path / ".venv" / "bin"
    binaries.mkdir(parents=True)
    (binaries / "zermelo").write_text("#!/bin/sh\necho found in $VIRTUAL_ENV\n")
    (binaries / "zermelo").chmod(0o755)
    (tmp_path / ".venv" / "core").touch()  # as if everything was installed
    done = subprocess.run(
        ["make", "--no-print-directory", "shell"],
        input="zermelo\nexit 3\n",
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "SHELL": "/bin/sh", "HOME": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert f"found in {tmp_path / '.venv'}" in done.stdout
    assert "Leave this shell with exit." in done.stdout
