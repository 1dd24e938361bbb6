"""A worker: a process that receives game numbers and sends back the games that it has played.

The worker exits when its parent does.
"""

import os
import time
import traceback
from pathlib import Path
from typing import IO, Any

from zermelo.arena.game import GameRunner
from zermelo.arena.plan import Plan
from zermelo.arena.processes.connection import ExitCode, ParentConnection
from zermelo.arena.processes.memory import limit_memory
from zermelo.arena.scoresheet import Scoresheet
from zermelo.core.errors import ZermeloError
from zermelo.games import user_code, user_games

_REPORT_INTERVAL = 0.1  # seconds


def main(sheet: IO[bytes]) -> None:
    """Play games until the parent closes the connection."""
    connection = ParentConnection()
    commands = connection.receive()
    setup = commands.get()
    try:
        plan = Plan.from_dict(setup["plan"])
        plan.rules  # noqa: B018 - loads the game
    except ZermeloError as error:
        connection.send({"error": str(error)})
        os._exit(0)
    if plan.memory:
        limit_memory(plan.memory)
    code = 0
    try:
        _serve(plan, set(setup["no_warm_up"]), commands, connection, Scoresheet.attach(sheet))
    except MemoryError:
        code = ExitCode.OUT_OF_MEMORY
    except Exception as error:  # noqa: BLE001 - rules and players from files may raise anything
        connection.verify()
        message = _describe_rules_error(plan, error)
        if message is None:
            traceback.print_exc()  # caused by something that a player has left behind
            code = 1
        else:
            connection.send({"error": message})
    os._exit(code)  # even if a player has left threads running


def _describe_rules_error(plan: Plan, error: Exception) -> str | None:
    """Return a message if the rules in a game file raised an error, otherwise None."""
    if not user_games.is_game_file(plan.game):
        return None
    path = Path(plan.game)
    where = user_code.locate_error(error)
    if where is not None and where.startswith((f"{path},", f"{path.resolve()},")):
        return where
    return str(error) if isinstance(error, ZermeloError) else None


def _serve(
    plan: Plan,
    warm: set[int],  # players that need no warm-up, or have had it
    commands: Any,
    connection: ParentConnection,
    sheet: Scoresheet,
) -> None:
    runner = GameRunner(plan, sheet, connection)
    while True:
        connection.send({"idle": True})
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
                connection.send({"games": rows})
                rows, last = [], time.monotonic()
        connection.send({"games": rows})
