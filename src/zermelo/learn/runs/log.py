"""The log of a run: a file of JSON lines, and scalars for TensorBoard."""

import json
import math
from pathlib import Path
from typing import Any

LOG = "log.jsonl"
LogLine = dict[str, Any]  #: contains at least the key "update"


def append_line(folder: Path, line: LogLine) -> None:
    """Append a line to a run's log, after a line break if the file's last line is incomplete."""
    with (folder / LOG).open("ab+") as file:
        if file.tell():
            file.seek(-1, 2)
            if file.read(1) != b"\n":
                file.write(b"\n")
        file.write(json.dumps(line, allow_nan=False).encode() + b"\n")


def read_log(folder: Path) -> list[LogLine]:
    """Return the lines of a log, sorted by update, with only the latest line for each update.

    A resumed run repeats the updates after its checkpoint, so these are logged more than once.
    Lines that are not JSON are skipped. NaN and infinity, which earlier versions wrote, are read as
    None.
    """
    lines: dict[int, LogLine] = {}
    try:
        text = (folder / LOG).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    for row in text.splitlines():
        try:
            line = json.loads(row, parse_constant=lambda _token: None, parse_float=_parse_float)
        except (ValueError, RecursionError):
            continue  # the line was cut off when the run was killed
        if isinstance(line, dict) and isinstance(line.get("update"), int):
            lines[line["update"]] = line
    return [lines[update] for update in sorted(lines)]


def _parse_float(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None  # float('1e999') is infinite


class TensorBoardLog:
    """Writes the log as scalars for TensorBoard; does nothing if TensorBoard is not installed."""

    def __init__(self, folder: Path, update: int) -> None:
        self._writer: Any = None
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            return
        # Discard the scalars that a killed run wrote after its last checkpoint.
        self._writer = SummaryWriter(str(folder / "tensorboard"), purge_step=update + 1)

    def add(self, line: LogLine) -> None:
        """Write the numbers of a log line as scalars."""
        if self._writer is not None:
            for name, value in line.items():
                if name != "update" and isinstance(value, float):
                    self._writer.add_scalar(name, value, line["update"])
            self._writer.flush()

    def close(self) -> None:
        """Close the files."""
        if self._writer is not None:
            self._writer.close()
