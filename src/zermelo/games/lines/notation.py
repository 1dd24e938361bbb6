"""What the outside world says about line games: moves as text, boards that can or cannot arise."""

from typing import TYPE_CHECKING

from zermelo.core import notation
from zermelo.core.bitboard import Word, bits
from zermelo.core.errors import BadBoard, BadMove

if TYPE_CHECKING:
    from zermelo.games.lines.rules import LineGame

DIGITS = 9  # one digit names that many columns or rows
_PEELED = 200_000  # boards looked at before a full proof of reachability is given up
_RUNS = ((0, 1), (1, 0), (1, 1), (1, -1))


def parse_action(game: "LineGame", text: str) -> int:
    """The action of a move, legal or not; BadMove names the forms that would be right."""
    text = text.strip().lower()
    if game.gravity:
        return _parse_column(game, text)
    if game.pie and text == "swap":
        return game.grid.size
    if not (text.isascii() and text.isdecimal()):
        return game.grid.parse(text)
    if game.lose:
        return _parse_row_col(game, text)
    number = notation.parse_number(text)
    if number is None or number >= game.grid.size:
        msg = f"{notation.shown(text)} is outside the {game.grid} board: {move_forms(game)}"
        raise BadMove(msg)
    return number


def _parse_column(game: "LineGame", text: str) -> int:
    number = notation.parse_number(text)
    if number is None and len(text) == 1 and text in "abcdefghijklmnopqrst":
        number = ord(text) - ord("a") + 1
    if number is None or not 1 <= number <= game.cols:
        msg = f"{notation.shown(text)} is not a column: {move_forms(game)}"
        raise BadMove(msg)
    return number - 1


def _parse_row_col(game: "LineGame", text: str) -> int:
    """`12` is row 1, column 2: how Squava is written."""
    small = max(game.rows, game.cols) <= DIGITS
    if small and len(text) == 2:
        row, col = int(text[0]) - 1, int(text[1]) - 1
        if 0 <= row < game.rows and 0 <= col < game.cols:
            return row * game.cols + col
    msg = f"{notation.shown(text)} is outside the {game.grid} board: {move_forms(game)}"
    raise BadMove(msg)


def short_form(game: "LineGame", cell: int) -> str:
    """The digits that `parse_action` takes for a cell."""
    if not game.lose:
        return str(cell)
    row, col = divmod(cell, game.cols)
    return f"{row + 1}{col + 1}" if max(game.rows, game.cols) <= DIGITS else ""


def move_forms(game: "LineGame") -> str:
    """The forms of move, for prompts and errors."""
    last = game.grid.size - 1
    if game.gravity:
        return f"columns 1 to {game.cols} (or letters a to {game.grid.letters[-1]})"
    forms = f"cells a1 to {game.grid.text(last)}"
    if not game.lose:
        forms += f", or indices 0 to {last}"
    elif short_form(game, 0):
        forms += f", or row and column 11 to {short_form(game, last)}"
    return f"{forms}, or swap" if game.pie else forms


def side_to_move(
    game: "LineGame", cells: tuple[int, ...], to_move: int | None, *, checked: bool
) -> int:
    """Who moves on a board: by the stone counts, or as told where those allow both."""
    first, second = cells.count(1), cells.count(-1)
    possible = {0: 0, 1: 1}.get(first - second)
    sides = [] if possible is None else [possible]
    if game.pie and second > 0:  # after a swap the second player is a stone ahead or level
        sides += {-1: [0], 0: [1]}.get(first - second, [])
    if to_move is None and len(sides) > 1:
        msg = "with the pie rule these stones do not tell who moves: add X or O"
        raise BadBoard(msg)
    if not checked and to_move is not None:
        return to_move
    if not checked and not sides:
        msg = f"{first} X and {second} O do not tell who moves: give to_move"
        raise BadBoard(msg)
    if not sides:
        msg = f"{first} X and {second} O cannot arise: X moves first and the sides take turns"
        raise BadBoard(msg)
    if to_move is not None and to_move not in sides:
        side, other = "XO"[to_move], "XO"[sides[0]]
        msg = f"{side} cannot be to move with {first} X and {second} O: it is {other}'s turn"
        raise BadBoard(msg)
    return sides[0] if to_move is None else to_move


def check_reachable(game: "LineGame", state: tuple[Word, Word, Word]) -> None:
    """BadBoard for a state that play cannot reach."""
    mine, theirs, _player = state
    stones = mine | theirs
    if game.gravity:
        floating = stones & (stones ^ (((stones >> game.cols) | game.bottom) & stones))
        if floating:
            msg = f"the stone on {game.grid.text(bits(floating)[-1])} hangs in the air"
            raise BadBoard(msg)
    if _decided(game, mine):
        msg = "the side to move has a finished line already: the game ended earlier"
        raise BadBoard(msg)
    before = [(mine, theirs)]
    if _decided(game, theirs):
        # The last stone completed every line there is: without it the game was still running.
        before = [
            (mine, theirs ^ 1 << cell)
            for cell in bits(theirs)
            if not _decided(game, theirs ^ 1 << cell)
            and (not game.gravity or cell < game.cols or not stones >> (cell - game.cols) & 1)
        ]
    if not before:
        msg = "two finished lines without a common last stone cannot arise"
        raise BadBoard(msg)
    if game.gravity and not any(_can_peel(game, *pair, state) for pair in before):
        msg = "no order of moves builds these columns"
        raise BadBoard(msg)


def _decided(game: "LineGame", stones: Word) -> bool:
    lost = game.lines(stones, game.lose_steps) if game.lose else 0
    return bool(game.winning(stones) | lost)


def _can_peel(game: "LineGame", mine: Word, theirs: Word, state: tuple[Word, Word, Word]) -> bool:
    """Whether stones can be taken off the columns by turns down to the empty board."""
    # Who took the last turn alternates with every stone, and is `theirs` on the full state.
    last_is_theirs = (mine | theirs) == (state[0] | state[1])
    todo = [(mine, theirs) if last_is_theirs else (theirs, mine)]
    seen = set(todo)
    while todo:
        waiting, last = todo.pop()
        stones = waiting | last
        if not stones or len(seen) > _PEELED:
            return True
        tops = stones & ~((stones << game.cols) & game.full)
        for cell in bits(last & tops):
            child = (last ^ 1 << cell, waiting)
            if child not in seen:
                seen.add(child)
                todo.append(child)
    return False


def run_from(
    game: "LineGame", stones: Word, first: int, length: int, *, exact: bool
) -> tuple[int, ...]:
    """The run of stones of at least `length` that begins on cell `first`."""
    row, col = divmod(first, game.cols)
    for down, right in _RUNS:
        before = _cell(game, row - down, col - right)
        if before is not None and stones >> before & 1:
            continue
        run = []
        cell: int | None = first
        while cell is not None and stones >> cell & 1:
            run.append(cell)
            cell = _cell(game, row + down * len(run), col + right * len(run))
        if len(run) == length or (len(run) > length and not exact):
            return tuple(run)
    msg = "no line begins there"
    raise AssertionError(msg)


def _cell(game: "LineGame", row: int, col: int) -> int | None:
    inside = 0 <= row < game.rows and 0 <= col < game.cols
    return row * game.cols + col if inside else None
