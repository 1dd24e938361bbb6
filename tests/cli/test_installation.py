"""What an installation says about itself, and completion in shells."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from zermelo.cli import cli, installation


def run(*arguments: str) -> str:
    done = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_doctor_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "_is_installed", lambda module: module != "textual")
    monkeypatch.setattr(installation, "_gpu_name", lambda: None)
    text = run("doctor")
    assert "tui      the full-screen terminal: missing: pip install 'zermelo[tui]'" in text
    assert "window   the window: installed" in text
    assert "GPU: none" in text
    fields = json.loads(run("doctor", "--json"))
    assert fields["extras"]["tui"] is False
    assert fields["extras"]["studio"] is True
    assert fields["removed"] is None


def test_doctor_clears_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZERMELO_CACHE", str(tmp_path))
    for name in ("k_1.py", "k_1-2.nbc", "tictactoe.table"):
        (tmp_path / name).touch()
    assert json.loads(run("doctor", "--json"))["kernels"] == 1
    fields = json.loads(run("doctor", "--clear-cache", "--json"))
    assert (fields["removed"], fields["kernels"]) == (2, 0)
    assert [path.name for path in tmp_path.iterdir()] == ["tictactoe.table"]
    assert "0 compiled kernels; `zermelo warm` compiles the common ones" in run("doctor")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str) -> None:
    assert "_ZERMELO_COMPLETE" in run("completion", shell)


def test_bash_completes_commands() -> None:
    environment = {
        "_ZERMELO_COMPLETE": "bash_complete",
        "COMP_WORDS": "zermelo do",
        "COMP_CWORD": "1",
    }
    code = "import sys; sys.argv = ['zermelo']; from zermelo.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    assert "plain,doctor" in done.stdout, done.stderr
