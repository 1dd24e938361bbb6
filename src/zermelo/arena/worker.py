"""A worker: a process that receives game numbers and sends back the games that it has played.

Messages in both directions are JSON objects, one per line. The worker exits when its parent does.
"""

import json
import os
import queue
import signal
import threading
import time
from typing import IO, Any

from zermelo.arena.game import GameRunner, describe_crash
from zermelo.arena.plan import Plan
from zermelo.arena.scoresheet import Scoresheet
from zermelo.core.errors import ZermeloError
from zermelo.games import user_code

_REPORT_INTERVAL = 0.1  # seconds

_Commands = queue.SimpleQueue[dict[str, Any]]


def main(sheet: IO[bytes]) -> None:
    """Play games until the parent closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C stops the parent, which stops the worker
    command_stream, answers = _take_standard_streams()
    try:
        _serve(_read_commands(command_stream), answers, Scoresheet(sheet))
    except ZermeloError as error:
        _send(answers, {"error": str(error)})
    except Exception as error:  # noqa: BLE001 - rules from a file may raise anything
        _send(answers, {"error": user_code.locate_error(error) or describe_crash(error)})
    os._exit(0)  # even if a player has left threads running


def _take_standard_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Return standard input and output for messages; what players print goes to standard error."""
    commands, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return commands, answers


def _read_commands(stream: IO[bytes]) -> _Commands:
    """Start a thread that queues commands and ends the process once the parent is gone."""
    commands: _Commands = queue.SimpleQueue()

    def listen() -> None:
        for line in stream:
            commands.put(json.loads(line))
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    return commands


def _serve(commands: _Commands, answers: IO[bytes], sheet: Scoresheet) -> None:
    setup = commands.get()
    plan = Plan.from_json(setup["plan"])
    runner = GameRunner(plan, sheet)
    warm = set(setup["no_warm_up"])  # players whose warm-up has killed a worker
    while True:
        _send(answers, {"idle": True})
        rows: list[Any] = []
        last = time.monotonic()
        for number in commands.get()["games"]:
            fixture = plan.fixture(number)
            for player in set(fixture.seats) - warm:
                runner.warm_up(player)
                warm.add(player)
            rows.append(runner.play(fixture))
            runner.set_idle()
            if time.monotonic() - last > _REPORT_INTERVAL:
                _send(answers, {"games": rows})
                rows, last = [], time.monotonic()
        _send(answers, {"games": rows})


def _send(answers: IO[bytes], message: dict[str, Any]) -> None:
    answers.write(json.dumps(message).encode() + b"\n")
    answers.flush()
