"""Load player files in a process of their own, before a tournament begins.

The tournament has to know whether a file holds a player and whether the player takes a seed. It
does not load the file itself, because the code of a file could end its process.
"""

import queue
from collections.abc import Sequence

from zermelo.arena.processes.child import ChildProcess, Message, describe_exit
from zermelo.arena.processes.connection import ParentConnection
from zermelo.core.errors import BadSpec, ZermeloError
from zermelo.games.user_output import OutputRelay
from zermelo.players.user_players import file_accepts_seed

_PATIENCE = 30.0  # seconds to wait for one file; loading should itself time out after 20


def inspect_player_files(specs: Sequence[str]) -> dict[str, bool]:
    """Return, for each player file, whether its player takes a seed and the spec gives none.

    Raise BadSpec for the first file that cannot be loaded.
    """
    if not specs:
        return {}
    answers: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
    child = ChildProcess(__name__, answers.put, OutputRelay())
    accepts_seed = {}
    try:
        child.send({"specs": list(specs)})
        for spec in specs:
            try:
                answer = answers.get(timeout=_PATIENCE)
            except queue.Empty:
                msg = f"{spec} took more than {_PATIENCE:g} s to load"
                raise BadSpec(msg) from None
            if answer is None:
                code = describe_exit(child.close())
                msg = f"{spec} cannot be loaded: its process died ({code})"
                raise BadSpec(msg)
            if "error" in answer:
                raise BadSpec(str(answer["error"]))
            accepts_seed[spec] = bool(answer.get("accepts_seed"))
    finally:
        child.close()
    return accepts_seed


def main() -> None:
    """Load the files whose specs the parent sends; send whether their players take a seed."""
    connection = ParentConnection()
    for spec in connection.receive().get()["specs"]:
        try:
            answer: Message = {"accepts_seed": file_accepts_seed(spec)}
        except ZermeloError as error:
            answer = {"error": str(error)}
        connection.verify()
        connection.send(answer)
