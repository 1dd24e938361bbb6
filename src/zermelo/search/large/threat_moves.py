"""What is tried in a search of threats: the moves of the attacker and the answers to them.

`windows` [window, its places] are all stretches of a winning length; `tally` [window] counts their
stones: the attacker's, and the defender's `DEFENDER` times. `through` [place, …] lists the windows
of a place behind its action, its nearness to the centre and their number. `ranks` [place] has
zeros: room to mark places. Lists go into the row `ply` of `moves`.
"""

from typing import Any

from zermelo.core.bitboard import mix, word
from zermelo.games.lines.large import FREE, BoardLineGame

DEFENDER = 64  # in `tally` a window's count of defending stones is that many times larger
NOWHERE = -1


def count(place: Any, attacks: Any, step: Any, through: Any, tally: Any, key: Any) -> None:
    """Count a stone in (step 1) or out (-1)."""
    worth = step if attacks else step * DEFENDER
    for i in range(through[place, 2]):
        tally[through[place, 3 + i]] += worth
    key[0] ^= mix(word(2 * place + (1 if attacks else 2)))


def winning_gap(game: BoardLineGame, window: Any, stone: Any, cells: Any, windows: Any) -> Any:
    """The free place of a window that lacks one stone, if that stone wins there."""
    place = windows[window, 0]
    for j in range(windows.shape[1]):
        if cells[windows[window, j]] == FREE:
            place = windows[window, j]
    cells[place] = stone
    wins = game.is_in_winning_line(cells, place)
    cells[place] = FREE
    return place if wins else NOWHERE


def list_attacks(
    game: BoardLineGame,
    ply: Any,
    attacker: Any,
    least: Any,
    cells: Any,
    moves: Any,
    windows: Any,
    tally: Any,
    ranks: Any,
) -> Any:
    """(the place that wins at once, how many moves are listed else).

    Those are free cells of windows that are the attacker's alone, with `least` stones or more; of
    the fullest first. The defender's win at once must be blocked: that alone, then, or nothing.
    """
    length = windows.shape[1]
    # 1. A win at once, and the defender's.
    block, is_lost = NOWHERE, False
    for window in range(len(tally)):
        full = tally[window]
        if full not in (length - 1, (length - 1) * DEFENDER):
            continue
        own = full == length - 1
        stone = 1 + (attacker if own else 1 - attacker)
        place = winning_gap(game, window, stone, cells, windows)
        if place == NOWHERE:
            continue
        if own:
            return place, 0
        is_lost = is_lost or block not in (NOWHERE, place)
        block = place
    if block != NOWHERE:
        moves[ply, 0] = block
        return NOWHERE, 0 if is_lost else 1
    # 2. Free cells, by rank.
    found = 0
    for window in range(len(tally)):
        if not least <= tally[window] < length:
            continue
        worth = 1 if tally[window] == least else 16
        for j in range(length):
            place = windows[window, j]
            if cells[place] != FREE:
                continue
            if ranks[place] == 0:
                moves[ply, found] = place
                found += 1
            ranks[place] += worth
    sort(ply, found, moves, ranks)
    return NOWHERE, found


def sort(ply: Any, found: Any, moves: Any, ranks: Any) -> None:
    """The list by rank, highest first; the ranks are zeros again."""
    for i in range(1, found):
        place, at = moves[ply, i], i
        while at > 0 and ranks[moves[ply, at - 1]] < ranks[place]:
            moves[ply, at] = moves[ply, at - 1]
            at -= 1
        moves[ply, at] = place
    for i in range(found):
        ranks[moves[ply, i]] = 0


def winning_gaps(
    game: BoardLineGame, last: Any, cells: Any, windows: Any, through: Any, tally: Any
) -> Any:
    """Two places where the attacker wins at once by lines through its last stone, as far as any."""
    first = NOWHERE
    for i in range(through[last, 2]):
        window = through[last, 3 + i]
        if tally[window] != windows.shape[1] - 1:
            continue
        place = winning_gap(game, window, cells[last], cells, windows)
        if place != NOWHERE and first not in (NOWHERE, place):
            return first, place
        if place != NOWHERE:
            first = place
    return first, NOWHERE


def list_free(ply: Any, cells: Any, moves: Any) -> Any:
    """All free cells; returns how many."""
    found = 0
    for place in range(len(cells)):
        if cells[place] == FREE:
            moves[ply, found] = place
            found += 1
    return found


def list_defences(
    ply: Any,
    size: Any,
    cells: Any,
    moves: Any,
    lines: Any,
    windows: Any,
    through: Any,
    tally: Any,
    ranks: Any,
    key: Any,
) -> Any:
    """All that could stop the `size` moves of the line above; returns how many. See the kernel."""
    length = windows.shape[1]
    for i in range(size):
        place = lines[ply + 1, i]
        moves[ply, i] = place
        ranks[place] = 1
        if i % 2 == 1:
            count(place, False, 1, through, tally, key)
    found = size
    for window in range(len(tally)):
        if tally[window] < (length - 2) * DEFENDER or tally[window] % DEFENDER > 0:
            continue
        for j in range(length):
            place = windows[window, j]
            if cells[place] == FREE and ranks[place] == 0:
                moves[ply, found] = place
                ranks[place] = 1
                found += 1
    for i in range(1, size, 2):
        count(lines[ply + 1, i], False, -1, through, tally, key)
    for i in range(found):
        ranks[moves[ply, i]] = 0
    return found
