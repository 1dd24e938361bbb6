"""A child process's connection to the tournament: JSON messages on standard input and output.

Players run in the same process, and may fork it or close its files. `verify`, which is called after
each call of a player, ends the process if a player has done either.
"""

import contextlib
import json
import os
import queue
import threading
from enum import IntEnum
from typing import IO, Any

Commands = queue.SimpleQueue[dict[str, Any]]


class ExitCode(IntEnum):
    """Exit codes of a child process that tell its parent what a player has done."""

    OUT_OF_MEMORY = 81
    CLOSED_CONNECTION = 82


class ParentConnection:
    """Reserves standard input and output for messages; redirects players' prints to stderr."""

    def __init__(self) -> None:
        self._commands, self._answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        self._pid = os.getpid()
        self._pipes = [(stream.fileno(), _identify(stream)) for stream in self._streams]

    @property
    def _streams(self) -> tuple[IO[bytes], IO[bytes]]:
        return self._commands, self._answers

    def verify(self) -> None:
        """End this process if it is a copy that a player has forked, or if its pipes are closed."""
        if os.getpid() != self._pid:
            os._exit(0)
        for number, identity in self._pipes:
            try:
                is_open = os.path.samestat(os.fstat(number), identity)
            except OSError:
                is_open = False
            if not is_open:
                os._exit(ExitCode.CLOSED_CONNECTION)

    def receive(self) -> Commands:
        """Return a queue of commands from the parent; end the process when the parent has ended."""
        commands: Commands = queue.SimpleQueue()

        def listen() -> None:
            with contextlib.suppress(OSError, ValueError):
                for line in self._commands:
                    commands.put(json.loads(line))
            os._exit(0)

        threading.Thread(target=listen, daemon=True).start()
        return commands

    def send(self, message: dict[str, Any]) -> None:
        """Send a message to the parent."""
        self._answers.write(json.dumps(message).encode() + b"\n")
        self._answers.flush()


def _identify(stream: IO[bytes]) -> os.stat_result:
    return os.fstat(stream.fileno())
