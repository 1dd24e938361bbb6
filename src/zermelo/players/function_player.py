"""Players that are plain Python functions from a position to a move."""

import operator
import time
from collections.abc import Callable, Iterator
from typing import Any, SupportsIndex

from zermelo.core.errors import BadMove
from zermelo.core.notation import show_value
from zermelo.core.player import Analysis, Limit, Player
from zermelo.core.position import Position

#: position → a move such as "b2", or an action as an int
MoveFunction = Callable[[Position], str | SupportsIndex]


class FunctionPlayer(Player):
    """A player that asks a function for every move; the function is given only the position.

    >>> import zermelo as z
    >>> last = FunctionPlayer(lambda position: position.legal[-1])
    >>> last.choose(z.game("tictactoe").start()).move
    'c3'
    """

    def __init__(self, function: MoveFunction, name: str = "") -> None:
        self.function = function
        self.name = name or getattr(function, "__name__", type(function).__name__)

    def choose_action(self, position: Position) -> int:
        """Return the function's choice as an action; raise IllegalMove if it is not legal."""
        return self._legal_action(position, self.function(position))

    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        """Yield the function's choice; raise IllegalMove if it is not a legal move."""
        del limit  # a function cannot be interrupted
        begin = time.perf_counter()
        action = self._legal_action(position, self.function(position))
        seconds = time.perf_counter() - begin
        yield Analysis(position.to_move_text(action), seconds=seconds, source="function")

    def ask(self, position: Position) -> Any:
        """Return the function's answer, legal or not; an action is converted to its move."""
        choice = self.function(position)
        action = _to_int(choice)
        if action is None:
            return choice
        is_known = 0 <= action < position.game.num_actions
        return position.to_move_text(action) if is_known else f"action {action}"

    def _legal_action(self, position: Position, choice: Any) -> int:
        """Convert a function's choice to a legal action; raise BadMove if that is impossible."""
        if isinstance(choice, str):
            return position.parse(choice)
        action = _to_int(choice)
        if action is None:
            msg = (
                f"{self.name} returned {show_value(choice)}: a function that plays must "
                f"return a move such as {position.legal[0]!r}, or an action as an int"
            )
            raise BadMove(msg)
        return position.check_action(action)


def _to_int(choice: Any) -> int | None:
    """Convert a Python or NumPy integer to an int; return None for anything else."""
    if isinstance(choice, bool):
        return None
    try:
        return operator.index(choice)
    except TypeError:
        return None
