"""Run a command on a pseudo-terminal, and find out what is on its screen at the end."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

_TOKENS = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|([\r\n])|([^\x1b\r\n])")


def run_on_terminal(
    arguments: list[str], folder: Path, columns: int = 80, **environment: str
) -> str:
    """Run a command whose input, output and errors are a terminal; return all that it wrote."""
    terminal, device = pty.openpty()
    fcntl.ioctl(device, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    variables = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-m", "zermelo", *arguments],
        stdin=device,
        stdout=device,
        stderr=device,
        env={**variables, "ZERMELO_HOME": str(folder), "TERM": "xterm-256color", **environment},
        cwd=folder,
    )
    os.close(device)
    written = b""
    while True:
        try:
            block = os.read(terminal, 65536)
        except OSError:  # the command has ended
            break
        if not block:
            break
        written += block
    process.wait()
    os.close(terminal)
    return written.decode()


def screen_lines(written: str, columns: int = 80) -> list[str]:
    """Return the lines on the screen, without colours, after this text has been written to it."""
    lines, row, col = [""], 0, 0
    for number, code, control, char in _TOKENS.findall(written):
        if code == "A":
            row = max(0, row - int(number or 1))
        elif code == "K":
            lines[row] = "" if number == "2" else lines[row][:col]
        elif control == "\r":
            col = 0
        elif control == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif char:
            if col == columns:  # the line is full: go on in the next one
                row, col = row + 1, 0
                lines += [""] * (row + 1 - len(lines))
            line = lines[row].ljust(col)
            lines[row] = line[:col] + char + line[col + 1 :]
            col += 1
    return [line.rstrip() for line in lines]
