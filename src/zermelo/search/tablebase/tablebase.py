"""Tables: every state of a small word game with its exact score, in memory and in files.

A table holds one state for each class that symmetries map onto each other, the least of them.
Scores are kept as codes that know nothing of `game.far`: a win in n plies is n + 1, a loss
-(n + 1), a draw 0, so that a game that is over and lost is -1; where scores are points, as in
Reversi, the code is the score. What a file looks like is the matter of `table_files`.
"""

import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from zermelo.core.bitboard import Word, lowest, mix, scale, word
from zermelo.core.errors import TooLarge
from zermelo.core.game import WordGame
from zermelo.core.symmetry import byte_tables
from zermelo.kernels import compiled, kernel, written
from zermelo.search.state_keys import canonical_state
from zermelo.search.tablebase import files as table_files
from zermelo.search.tablebase.files import MAX_STATES, BadTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_CODE = (1 << 15) - 1
_SLICE = 1 << 13  # states between two looks at the index, the progress bar and Ctrl-C
_FAR = 1 << 30  # while a table is built: above every number of plies
_UNKNOWN = -(1 << 31)

Progress = Callable[[int, int], None]  #: (states settled, states found)
Notify = Callable[[str], None]


class Table:
    """The solved states of one game; `len` counts classes of symmetric ones.

    >>> import zermelo as z
    >>> game = z.game("tictactoe")
    >>> table = Table.build(game)
    >>> len(table), table.score(game.initial()), table.score((0b11, 0b11000, 0)) == game.far - 1
    (765, 0, True)
    """

    def __init__(self, game: WordGame, keys: "NDArray[Any]", codes: "NDArray[Any]") -> None:
        import numpy as np

        self.game = game
        self._keys, self._codes = keys, codes  # [word, state] and [state], in rising order
        self._word = np.uint64
        self._turns = _python_turns(game)

    source: ClassVar[str] = "table"  #: what an answer from it says

    def __len__(self) -> int:
        """How many states are stored."""
        return len(self._codes)

    def score(self, state: tuple[Word, ...]) -> int | None:
        """The exact score for the side to move; None where play, or its mirror, never comes."""
        begin, end = 0, len(self._codes)
        for column, part in zip(self._keys, self.least(state), strict=True):
            within, key = column[begin:end], self._word(part)
            end = begin + int(within.searchsorted(key, "right"))
            begin += int(within.searchsorted(key))
            if begin == end:
                return None
        code = int(self._codes[begin])
        if self.game.ply_cost == 0 or code == 0:
            return code
        return self.game.far - code + 1 if code > 0 else -self.game.far - code - 1

    def least(self, state: tuple[Word, ...]) -> tuple[Word, ...]:
        """`count.least_image` on plain ints."""
        boards = least = state[: self.game.num_boards]
        for turn in self._turns:
            first = _turned(boards[0], turn)
            if first <= least[0]:  # the other boards only break ties
                least = min(least, (first, *[_turned(board, turn) for board in boards[1:]]))
        return least + state[self.game.num_boards :]

    @classmethod
    def build(
        cls,
        game: WordGame,
        progress: Progress | None = None,
        *,
        max_states: int = MAX_STATES,
    ) -> "Table":
        """Find every state and settle it; TooLarge above `max_states` stored ones."""
        import numpy as np

        turns = np.array(byte_tables(game.symmetries()), np.uint64).reshape(-1, 8, 256)
        states, slots = _reach(game, turns, max_states, progress)
        codes = _coded(game, _settled(game, states, slots, turns, progress))
        del slots
        order = np.lexsort(states.T[::-1])
        return cls(game, np.ascontiguousarray(states[order].T), codes[order])

    @classmethod
    def open(
        cls, game: WordGame, notify: Notify, progress: Progress | None = None
    ) -> "Table | None":
        """The game's table from the folder of tables; None where there is none.

        A file that is not right is made anew, and `notify` is told why.
        """
        if not table_files.may_exist(game.spec):  # the digest of the rules costs more than a look
            return None
        path = path_of(game)
        if not path.exists():
            return None
        try:
            return cls.read(path, game)
        except BadTable as error:
            notify(f"{error}: building it anew")
        table = cls.build(game, progress)
        try:
            table.write(path)
        except OSError as error:
            notify(f"{path} cannot be written: {error.strerror}")
        return table

    def write(self, path: Path) -> None:
        """Keep the table; the file appears whole or not at all. OSError when it cannot be kept."""
        table_files.write(path, self.game.spec, rules_digest(self.game), self._keys, self._codes)

    @classmethod
    def read(cls, path: Path, game: WordGame) -> "Table":
        """The table in a file, checked throughout; BadTable says what is wrong with it."""
        rules = rules_digest(game)
        table = cls(game, *table_files.read(path, game.spec, rules, game.num_words))
        if table.score(game.initial()) is None:
            msg = f"{path} is no table of {game.spec}: the start of the game is missing"
            raise BadTable(msg)
        return table


def path_of(game: WordGame) -> Path:
    """Where a game's table belongs: other rules, another file."""
    return table_files.path_of(game.spec, rules_digest(game))


@functools.lru_cache(maxsize=256)
def rules_digest(game: WordGame) -> str:
    """A digest of all that makes a table: the rules, their constants, symmetries and kernels."""
    digest = hashlib.sha256()
    for function in (reach, settle, *([points] if game.ply_cost == 0 else [])):
        text, constants = written(function, game)
        digest.update(f"{text}\n{plain(constants)}\n".encode())
    turns = [s.cells for s in game.symmetries()]
    digest.update(f"{game.initial()} {game.num_boards} {turns}".encode())
    return digest.hexdigest()


def plain(constants: Any) -> Any:
    """Typed constants as Python's own, which print alike everywhere."""
    if isinstance(constants, tuple):
        return tuple(map(plain, constants))
    return constants.item()


# Building: a queue of states in breadth-first order, with an index by hash; then scores.


@kernel("uint64[:,::1], int32[::1], int64, int64, int64, int64, uint64[:,:,::1]")
def reach(
    game: WordGame,
    states: Any,
    slots: Any,
    placed: Any,
    used: Any,
    begin: Any,
    end: Any,
    turns: Any,
) -> Any:
    """Append to the queue states[:used] the new children of states[begin:end].

    `slots` is the index, a row + 1 each or 0 for a free slot; it holds the first `placed` rows,
    and the others are put in first. The caller sees to room in both. Returns `used`.
    """
    for row in range(placed, used):
        slots[seek(game, states, slots, game.load(states, row))] = row + 1
    for row in range(begin, end):
        state = game.load(states, row)
        over, _value = game.result(state)
        if over:
            continue
        mask = game.legal(state)
        action = game.num_actions - 1
        passing = mask == 0
        while passing or mask != 0:
            if not passing:
                action = lowest(mask)
                mask = mask & (mask - word(1))
            passing = False
            child = canonical_state(game, game.play(state, action), turns)
            slot = seek(game, states, slots, child)
            if slots[slot] == 0:
                game.store(states, used, child)
                used += 1
                slots[slot] = used
    return used


def seek(game: WordGame, states: Any, slots: Any, state: Any) -> Any:
    """The slot of a state in an index that is not full: its own or the free one it would take."""
    digest = word(0)
    for part in state:
        digest = mix(digest ^ part)
    slot = scale(digest, len(slots))
    while slots[slot] != 0 and game.load(states, slots[slot] - 1) != state:
        slot = slot + 1 if slot + 1 < len(slots) else 0
    return slot


@kernel("uint64[:,::1], int32[::1], int32[::1], int64, int64, int32[::1], uint64[:,:,::1]")
def settle(
    game: WordGame,
    states: Any,
    slots: Any,
    scores: Any,
    begin: Any,
    end: Any,
    stack: Any,
    turns: Any,
) -> Any:
    """Set the scores of states[begin:end] that are still unknown, from the last one back.

    Nearly all children stand behind their parents in the queue and are known by then; one that
    is not, because another path to it is shorter, is settled first. A win in n plies is
    _FAR - n. False when such a path is longer than `stack`, as where a state can recur.
    """
    for start in range(end - 1, begin - 1, -1):
        stack[0] = start
        depth = 0 if scores[start] != _UNKNOWN else 1
        while depth > 0:
            state = game.load(states, stack[depth - 1])
            over, value = game.result(state)
            best = value * _FAR if over else -_FAR
            mask = game.legal(state)
            action = game.num_actions - 1
            passing = mask == 0 and not over
            waiting = -1
            while not over and waiting < 0 and (passing or mask != 0):
                if not passing:
                    action = lowest(mask)
                    mask = mask & (mask - word(1))
                passing = False
                child = canonical_state(game, game.play(state, action), turns)
                row = slots[seek(game, states, slots, child)] - 1
                score = int(scores[row])
                if score == _UNKNOWN:
                    waiting = row
                elif score > 0:
                    best = max(best, game.ply_cost - score)
                else:
                    best = max(best, -score - (game.ply_cost if score < 0 else 0))
            if waiting < 0:
                depth -= 1
                scores[stack[depth]] = best
            elif depth == len(stack):
                return False
            else:
                stack[depth] = waiting
                depth += 1
    return True


@kernel("uint64[:,::1], int32[::1]")
def points(game: WordGame, states: Any, scores: Any) -> Any:
    """The scores of finished states, where these are points."""
    for row in range(len(states)):
        state = game.load(states, row)
        over, _value = game.result(state)
        if over:
            _known, score, _moves = game.quick(state)
            scores[row] = score
    return 0


def _reach(
    game: WordGame, turns: "NDArray[Any]", limit: int, progress: Progress | None
) -> tuple["NDArray[Any]", "NDArray[Any]"]:
    """All states, from the start on, and their index."""
    import numpy as np

    run = compiled(reach, game)
    states = np.array([canonical_state(game, game.initial(), turns)], np.uint64)
    slots = np.zeros(2, np.int32)
    begin, placed, used = 0, 0, 1
    while begin < used:
        end = min(begin + _SLICE, used)
        most = used + (end - begin) * game.num_actions
        if most > len(states):
            larger = np.empty((2 * most, game.num_words), np.uint64)
            larger[:used] = states[:used]
            states = larger
        if 2 * most > len(slots):
            slots, placed = np.zeros(4 * most, np.int32), 0
        placed = used = run(states, slots, placed, used, begin, end, turns)
        begin = end
        if used > limit:
            msg = f"{game.spec} has more than {limit:,} states: too many for a table"
            raise TooLarge(msg)
        if progress:
            progress(0, used)
    return states[:used], slots


def _settled(
    game: WordGame,
    states: "NDArray[Any]",
    slots: "NDArray[Any]",
    turns: "NDArray[Any]",
    progress: Progress | None,
) -> "NDArray[Any]":
    """The score of every state, as `settle` and `points` give them."""
    import numpy as np

    run = compiled(settle, game)
    scores = np.full(len(states), _UNKNOWN, np.int32)
    stack = np.zeros(_MAX_CODE, np.int32)
    if game.ply_cost == 0:
        compiled(points, game)(states, scores)
    for end in range(len(states), 0, -_SLICE):
        if not run(states, slots, scores, max(end - _SLICE, 0), end, stack, turns):
            msg = f"{game.spec} has games without end, or of more than {_MAX_CODE:,} plies"
            raise TooLarge(msg)
        if progress:
            progress(len(states) - max(end - _SLICE, 0), len(states))
    return scores


def _coded(game: WordGame, scores: "NDArray[Any]") -> "NDArray[Any]":
    """Scores as codes; TooLarge for those that have no room in one."""
    import numpy as np

    if game.ply_cost:
        scores = np.sign(scores) * (_FAR + 1 - np.abs(scores))
    if np.abs(scores).max() > _MAX_CODE:
        what = "plies to the end" if game.ply_cost else "points"
        msg = f"{game.spec} has states with more than {_MAX_CODE:,} {what}: too many for a table"
        raise TooLarge(msg)
    return scores.astype(np.int16)


def _python_turns(game: WordGame) -> list[list[list[Word]]]:
    """The byte tables of all symmetries but the identity, for the bytes that a board has."""
    symmetries = game.symmetries()[1:] if game.num_boards else ()
    tables = byte_tables(symmetries)
    return [table[: (len(s.cells) + 7) // 8] for s, table in zip(symmetries, tables, strict=True)]


def _turned(board: Word, turn: list[list[Word]]) -> Word:
    moved = 0
    for values in turn:
        moved |= values[board & 255]
        board >>= 8
    return moved
