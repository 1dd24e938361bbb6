"""A worker: a fresh process that is sent numbers of games, and answers with the games played.

One JSON object a line on its standard input and output. When its parent goes away, so does it.
"""

import json
import os
import queue
import signal
import threading
import time
from typing import IO, Any

from zermelo.arena.game import Table, crash
from zermelo.arena.plan import Plan
from zermelo.arena.scoresheet import Scoresheet
from zermelo.core.errors import ZermeloError
from zermelo.games import user_code

_REPORT = 0.1  # seconds between two reports, at least


def main(sheet: IO[bytes]) -> None:
    """Until there are no more games."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent stops, and then this one does
    commands, answers = _taken_over()
    try:
        _serve(_read(commands), answers, Scoresheet(sheet))
    except ZermeloError as error:
        _say(answers, {"error": str(error)})
    except Exception as error:  # noqa: BLE001 - rules from a file may raise anything
        _say(answers, {"error": user_code.locate_error(error) or crash(error)})
    os._exit(0)  # whatever threads a player has left


def _taken_over() -> tuple[IO[bytes], IO[bytes]]:
    """Standard input and output, out of the reach of players: what these print goes to stderr."""
    commands, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return commands, answers


def _read(commands: IO[bytes]) -> "queue.SimpleQueue[dict[str, Any]]":
    """Commands as they come; a thread of its own notices at once when the parent is gone."""
    waiting: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()

    def listen() -> None:
        for line in commands:
            waiting.put(json.loads(line))
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    return waiting


def _serve(
    commands: "queue.SimpleQueue[dict[str, Any]]", answers: IO[bytes], sheet: Scoresheet
) -> None:
    setup = commands.get()
    plan = Plan.from_json(setup["plan"])
    table = Table(plan, sheet)
    is_warm = set(setup["cold"])  # those who did not survive it are not tried again
    while True:
        _say(answers, {"idle": True})
        rows: list[Any] = []
        last = time.monotonic()
        for number in commands.get()["games"]:
            fixture = plan.fixture(number)
            for player in set(fixture.seats) - is_warm:
                table.warm_up(player)
                is_warm.add(player)
            rows.append(table.play(fixture))
            table.rest()
            if time.monotonic() - last > _REPORT:
                _say(answers, {"games": rows})
                rows, last = [], time.monotonic()
        _say(answers, {"games": rows})


def _say(answers: IO[bytes], what: dict[str, Any]) -> None:
    answers.write(json.dumps(what).encode() + b"\n")
    answers.flush()
