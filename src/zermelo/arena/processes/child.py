"""The parent's handle on a child process that runs player code.

The child exchanges JSON messages with its parent, one per line. Everything else that it writes is
relayed to standard error. It has a process group of its own, so that a signal to the group does
not reach the parent, and so that the child's own children end with it.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

from zermelo.arena.processes.connection import ExitCode
from zermelo.games.user_output import OutputRelay

Message = dict[str, Any]

_MAX_MESSAGE = 1 << 26  # bytes; longer than any message of ours
_ORPHANED = 1.0  # seconds to wait for a dead child's pipe, which its own children may keep open
# Run in a fresh interpreter, because multiprocessing would run the caller's script a second time.
_BOOT = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C stops the parent, which stops the child
{prelude}
sys.path[:] = {path!r}
from {module} import main
main({argument})
"""


class ChildProcess:
    """A child process that runs `main` of a module and sends messages to its parent.

    `prelude` is code that the child runs first, and `argument` the argument of `main`, as code.
    `receive` is called with each message, and with None at the end, from another thread.
    """

    def __init__(
        self,
        module: str,
        receive: Callable[[Message | None], None],
        relay: OutputRelay,
        *,
        prelude: str = "",
        argument: str = "",
    ) -> None:
        code = _BOOT.format(prelude=prelude, path=sys.path, module=module, argument=argument)
        self.process = subprocess.Popen(  # noqa: S603 - this interpreter, our own module
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=0 if os.name == "posix" else None,
        )
        assert self.process.stderr is not None
        listener = threading.Thread(target=self._listen, args=(receive,), daemon=True)
        listener.start()
        self._threads = (listener, relay.follow(self.process.stderr))

    def _listen(self, receive: Callable[[Message | None], None]) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines, contextlib.suppress(ValueError):  # not JSON
            while line := lines.readline(_MAX_MESSAGE):
                message = json.loads(line)
                if not isinstance(message, dict):
                    break
                receive(message)
        receive(None)

    def send(self, message: Message) -> None:
        """Send a command. If the child has died, do nothing: `receive` is told of its end."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()

    def kill(self) -> None:
        """Kill the child and its own children."""
        if os.name == "posix":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()

    def close(self) -> int:
        """Kill the process if it is running; return its exit code."""
        self.kill()
        code = self.process.wait()
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):  # closing fails if data is still unsent
            self.process.stdin.close()
        for thread in self._threads:
            thread.join(_ORPHANED)
        return code


def describe_exit(code: int) -> str:
    """Return in words how a process ended."""
    if code == ExitCode.CLOSED_CONNECTION:
        return "it closed its connection to the arena"
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
