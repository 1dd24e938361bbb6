"""Run a command of the command line, in a new process or in this one."""

import contextlib
import io
import json
import os
import subprocess
import sys
import unittest.mock

import pytest

from zermelo.cli import main


def zermelo(
    *arguments: str, given: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "zermelo", *arguments],
        input=given,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
        timeout=300,
    )


def answer(*arguments: str, given: str = "") -> object:
    done = zermelo(*arguments, "--json", given=given)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def command(*arguments: str) -> tuple[int, str, str]:
    """Run a command in this process; return (exit code, stdout, stderr)."""
    out, err = io.StringIO(), io.StringIO()
    with (
        unittest.mock.patch.object(sys, "argv", ["zermelo", *arguments]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as end,
    ):
        main()
    return int(end.value.code or 0), out.getvalue(), err.getvalue()
