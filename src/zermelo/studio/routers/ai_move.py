"""The stateless move: a board of tic-tac-toe in, an action and its evaluations out."""

from typing import Any

from zermelo.core.errors import BadBoard
from zermelo.core.player import Analysis, Candidate
from zermelo.core.position import Position
from zermelo.games import registry


def parse(board: list[int], player: int, board_size: int, win_length: int | None) -> Position:
    """The position, checked; BadBoard or BadSpec says what is wrong with it."""
    if len(board) != board_size * board_size:
        msg = f"{len(board)} cells do not make a board of {board_size}x{board_size}"
        raise BadBoard(msg)
    win = win_length or board_size
    # The preset is compiled for itself.
    spec = "tictactoe" if board_size == win == 3 else f"tictactoe:size={board_size},win={win}"
    position = registry.named_game(spec).position(board, 0 if player == 1 else 1)
    if position.is_over:
        msg = f"the game is over: {position.verdict}"
        raise BadBoard(msg)
    return position


def answer(position: Position, found: Analysis, *, show_thinking: bool) -> dict[str, Any]:
    """The action, and if asked for what each move is worth to X."""
    sign = 1 if position.player == 0 else -1
    evaluations = None
    if show_thinking:
        evaluations = {
            str(position.parse(c.move)): {
                "value": sign * c.worth + 0.0,  # no -0.0
                "reasoning": _reasoning(c),
                "is_best": c.best,
            }
            for c in found.candidates
        }
    return {"action": position.parse(found.move), "evaluations": evaluations}


def _reasoning(candidate: Candidate) -> str:
    if candidate.reasons:
        return "; ".join(reason.text for reason in candidate.reasons)
    if candidate.value is not None:
        return {"win": "wins", "draw": "leads to a draw", "loss": "loses"}[candidate.value]
    return "by estimate"
