"""A stateless route that takes a tic-tac-toe board and returns the best action and evaluations."""

from fastapi import APIRouter
from pydantic import BaseModel

from zermelo.core.errors import BadBoard
from zermelo.core.player import Analysis, Candidate
from zermelo.core.position import Position
from zermelo.games import registry
from zermelo.studio.limits import RequestClient
from zermelo.studio.player_pool import ANALYST, Players
from zermelo.studio.requests import AiMoveRequest

_SECONDS = 1.0

router = APIRouter()


class Evaluation(BaseModel):
    """The value of one action, from -1 to 1 for X, with the reasons in words."""

    value: float
    reasoning: str
    is_best: bool


class AiMove(BaseModel):
    """The best action, and the evaluations of all legal actions if `show_thinking` is set."""

    action: int
    evaluations: dict[str, Evaluation] | None


@router.post("/api/ai-move")
async def choose_action(body: AiMoveRequest, client: RequestClient, players: Players) -> AiMove:
    """Return the best action on a tic-tac-toe board."""
    position = await players.boards.submit(client, lambda: _read_board(body))
    choice = await players.choose(client, ANALYST, position, _SECONDS, all_moves=True)
    evaluations = _evaluations(position, choice.analysis) if body.show_thinking else None
    return AiMove(action=position.parse(choice.analysis.move), evaluations=evaluations)


def _read_board(body: AiMoveRequest) -> Position:
    """Return the position. Raise BadBoard or BadSpec if it cannot occur or the game is over."""
    size, win = body.board_size, body.win_length or body.board_size
    if len(body.board) != size * size:
        msg = f"{len(body.board)} cells do not make a board of {size}x{size}"
        raise BadBoard(msg)
    # Use the preset for its sizes: a game with another spec would have its rules compiled again.
    spec = "tictactoe" if size == win == 3 else f"tictactoe:size={size},win={win}"
    position = registry.named_game(spec).position(body.board, 0 if body.player == 1 else 1)
    if position.is_over:
        msg = f"the game is over: {position.verdict}"
        raise BadBoard(msg)
    return position


def _evaluations(position: Position, analysis: Analysis) -> dict[str, Evaluation]:
    """Return the evaluation of every legal action, with values from the view of X."""
    sign = 1 if position.player == 0 else -1
    return {
        str(position.parse(candidate.move)): Evaluation(
            value=sign * candidate.expected_value + 0.0,  # adding 0 turns -0.0 into 0.0
            reasoning=_reasoning(candidate),
            is_best=candidate.best,
        )
        for candidate in analysis.candidates
    }


def _reasoning(candidate: Candidate) -> str:
    if candidate.reasons:
        return "; ".join(reason.text for reason in candidate.reasons)
    if candidate.value is not None:
        return {"win": "wins", "draw": "leads to a draw", "loss": "loses"}[candidate.value]
    return "an estimate"
