"""The log of a run: a file of JSON lines, and scalars for TensorBoard."""

import json
from pathlib import Path
from typing import Any

LOG = "log.jsonl"
LogLine = dict[str, Any]  #: with at least "update"


def append_line(folder: Path, line: LogLine) -> None:
    """Append a line to the log of a run, even if the last line was cut off."""
    with (folder / LOG).open("ab+") as file:
        if file.tell():
            file.seek(-1, 2)
            if file.read(1) != b"\n":
                file.write(b"\n")
        file.write(json.dumps(line).encode() + b"\n")


def read_log(folder: Path) -> list[LogLine]:
    """Return the lines of a log by update; of several for the same update, the last one.

    A resumed run repeats updates after its checkpoint. Lines that are not JSON are skipped.
    """
    lines: dict[int, LogLine] = {}
    try:
        text = (folder / LOG).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    for row in text.splitlines():
        try:
            line = json.loads(row)
        except ValueError:
            continue  # cut off when the run was killed
        if isinstance(line, dict) and isinstance(line.get("update"), int):
            lines[line["update"]] = line
    return [lines[update] for update in sorted(lines)]


class TensorBoardLog:
    """The log as scalars for TensorBoard; does nothing if that is not installed."""

    def __init__(self, folder: Path, update: int) -> None:
        self._writer: Any = None
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            return
        # Discard what a killed run wrote after its last checkpoint.
        self._writer = SummaryWriter(str(folder / "tensorboard"), purge_step=update + 1)

    def add(self, line: LogLine) -> None:
        """Write the numbers of a line."""
        if self._writer is not None:
            for name, value in line.items():
                if name != "update" and isinstance(value, float):
                    self._writer.add_scalar(name, value, line["update"])
            self._writer.flush()

    def close(self) -> None:
        """Close the files."""
        if self._writer is not None:
            self._writer.close()
