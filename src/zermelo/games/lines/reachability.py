"""Check whether play can reach a board of a line game, and determine who is to move on it."""

from typing import TYPE_CHECKING

from zermelo.core.bitboard import Word, bits
from zermelo.core.errors import BadBoard

if TYPE_CHECKING:
    from zermelo.games.lines.rules import LineGame

_MAX_BOARDS = 20_000  # boards visited before the search gives up, after about 0.1 s


def side_to_move(
    game: "LineGame", cells: tuple[int, ...], to_move: int | None, *, checked: bool
) -> int:
    """Return the player to move on a board, inferred from the numbers of stones if possible.

    `to_move` decides if the numbers allow either side, as after a swap; without `checked`, it
    always decides. Raise BadBoard if the numbers cannot occur in play or contradict `to_move`.
    """
    first, second = cells.count(1), cells.count(-1)
    sides = {0: [0], 1: [1]}.get(first - second, [])
    if game.pie and second > 0:  # after a swap the second player is one stone ahead or level
        sides += {-1: [0], 0: [1]}.get(first - second, [])
    if to_move is None and len(sides) > 1:
        msg = (
            "with the pie rule, these stones do not show who is to move: add X or O to the board, "
            "or give to_move"
        )
        raise BadBoard(msg)
    if not checked and to_move is not None:
        return to_move
    if not checked and not sides:
        msg = f"{first} X and {second} O do not show who is to move: give to_move"
        raise BadBoard(msg)
    if not sides:
        msg = f"{first} X and {second} O cannot occur: X moves first and the sides take turns"
        raise BadBoard(msg)
    if to_move is not None and to_move not in sides:
        side, other = "XO"[to_move], "XO"[sides[0]]
        msg = f"{side} cannot be to move with {first} X and {second} O: it is {other}'s turn"
        raise BadBoard(msg)
    return sides[0] if to_move is None else to_move


def check_reachable(game: "LineGame", state: tuple[Word, Word, Word]) -> None:
    """Raise BadBoard if play cannot reach a state; its numbers of stones must be valid."""
    mine, theirs, _player = state
    stones = mine | theirs
    if game.gravity:
        floating = stones & (stones ^ (((stones >> game.cols) | game.bottom) & stones))
        if floating:
            msg = f"the stone on {game.grid.text(bits(floating)[-1])} has no stone below it"
            raise BadBoard(msg)
    if _has_deciding_line(game, mine):
        msg = "the side to move has a finished line already: the game ended earlier"
        raise BadBoard(msg)
    parents = [(mine, theirs)]
    if _has_deciding_line(game, theirs):
        # The last stone completed all finished lines: before it, the game was not over.
        parents = [
            (mine, theirs ^ 1 << cell)
            for cell in bits(theirs)
            if not _has_deciding_line(game, theirs ^ 1 << cell)
            and (not game.gravity or cell < game.cols or not stones >> (cell - game.cols) & 1)
        ]
    if not parents:
        msg = "two finished lines without a common last stone cannot occur in play"
        raise BadBoard(msg)
    if game.gravity and not _can_unplay(game, parents, stones):
        msg = "no order of moves builds these columns"
        raise BadBoard(msg)


def _has_deciding_line(game: "LineGame", stones: Word) -> bool:
    losing = game.find_lines(stones, game.lose_shifts) if game.lose else 0
    return bool(game.winning_lines(stones) | losing)


def _can_unplay(game: "LineGame", boards: list[tuple[Word, Word]], stones: Word) -> bool:
    """Return whether taking back moves in turn can lead from one of the boards to an empty board.

    A board is (stones of the side to move, stones of the other side). It has either all `stones` or
    all but the last one played. The search gives up after `_MAX_BOARDS` boards and returns True.
    """
    # First take back a stone of the other side or, without the last stone, of the side to move.
    frontier = [(m, t) if (m | t) == stones else (t, m) for m, t in boards]
    seen = set(frontier)
    while frontier:
        waiting, last = frontier.pop()
        stones = waiting | last
        if not stones or len(seen) > _MAX_BOARDS:
            return True
        tops = stones & ~((stones << game.cols) & game.full)
        for cell in bits(last & tops):
            parent = (last ^ 1 << cell, waiting)
            if parent not in seen:
                seen.add(parent)
                frontier.append(parent)
    return False
