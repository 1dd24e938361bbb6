"""Proofs: a strategy for the winner, or two that do not lose, in a file that anyone can check.

`scripts/check_proof.py` does so without a line from here; docs/proofs.md has the format.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zermelo.core.bitboard import bits, lowest
from zermelo.core.errors import TooLarge, ZermeloError
from zermelo.core.files import write_atomically
from zermelo.core.game import BoardGame, Game
from zermelo.games.geometry import list_windows
from zermelo.games.lines.small import WordLineGame
from zermelo.kernels import compiled
from zermelo.search.limits import SearchClock
from zermelo.search.proofs import strategy_kernel
from zermelo.search.proofs.strategy_kernel import HOLD, WIN
from zermelo.search.solver.solution import solver_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_POSITIONS = 2_000_000
MAX_BYTES = 20_000_000
_HEAD = 400  # bytes, more than the first lines take
_SLICE = 1 << 12  # states between two looks at the limits
_TRIES = 200  # steps in the search for pairs after one move

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Proof:
    """What is claimed of a game, and a line for each position where a strategy's owner moves."""

    game: WordLineGame
    claim: str  #: who wins, "first" or "second"; or "draw"
    lines: list[str]

    def to_text(self) -> str:
        """The file."""
        game = self.game
        numbers = (
            f"rows {game.rows} cols {game.cols} win {game.win} lose {game.lose} "
            f"gravity {int(game.gravity)} exact {int(game.exact)}"
        )
        head = ("zermelo proof 1", f"game {game.spec}", numbers, f"claim {self.claim}")
        return "\n".join([*head, *self.lines, ""])

    def write(self, path: Path) -> int:
        """Write the file, whole or not at all; returns its size in bytes."""
        data = self.to_text().encode("ascii")
        write_atomically(path, data, durable=True, mode=0o644)
        return len(data)


def prove(game: Game, progress: Progress | None = None) -> Proof:
    """A proof of a game's value; TooLarge where it does not fit into a file.

    >>> import zermelo as z
    >>> proof = prove(z.game("mnk:4x4x3"))
    >>> proof.claim, len(proof.lines), proof.lines[0]
    ('first', 16, '................ b2')
    """
    return _Work(_checked(game), progress or (lambda _text: None)).proof()


def _checked(game: Game) -> WordLineGame:
    """A game that can be proven; ZermeloError says why another cannot."""
    if isinstance(game, BoardGame):
        why = "boards above 64 cells are beyond the solver"
    elif type(game) is not WordLineGame:
        why = "the checker's rules are those of the line games: tictactoe, mnk, connect4, squava, …"
    elif game.pie:
        why = "the checker's rules have no swap: leave pie=true out"
    else:
        return game
    msg = f"no proof file for {game.spec}: {why}"
    raise ZermeloError(msg)


@dataclass
class _Choice:
    """What `strategies` found for a slice of states."""

    owned: Any  # [state, word]
    moves: Any  # [state, actions by cost, then the costs]
    counts: Any  # [state]: how many actions
    pairs: Any  # [state, pair as a mask]
    held: Any  # [state]: how many of them; -1: pairs do not hold
    at: Any  # [state]: which of the actions is chosen

    @property
    def actions(self) -> Any:
        """The chosen ones."""
        return self.moves[range(len(self.at)), self.at]


class _Work:
    """One call of `prove`."""

    def __init__(self, game: WordLineGame, progress: Progress) -> None:
        import numpy as np

        self.game, self.progress = game, progress
        self.listed, self.bytes = 0, _HEAD
        self.clock = SearchClock(progress=self._say)
        self.solver = solver_for(game)
        masks = [
            sum(1 << (cell + n * step) for n in range(game.win))
            for cell, step in list_windows(game.grid, game.win)
        ]
        self.winning: NDArray[Any] = np.array(masks, np.uint64)
        self.tries = -1 if game.lose else 0 if game.gravity else _TRIES
        self.names = [game.grid.text(cell) for cell in range(game.grid.size)]

    def _say(self, nodes: int) -> None:
        self.progress(f"{self.listed:,} positions listed, {nodes:,} searched")

    def proof(self) -> Proof:
        """The value, then what shows it."""
        game, start = self.game, self.game.initial()
        replies = [game.play(start, action) for action in game.actions(start)]
        replies = [state for state in replies if not game.result(state)[0]]
        score = 0
        if not replies or self._arrange(replies, HOLD).held.min() < 0:  # else pairs do it all
            score = self.solver.score(start, self.clock)
        if score > 0:
            return Proof(game, "first", self._shortest(score))
        if score < 0:
            return Proof(game, "second", self._strategy(replies, WIN, game.hooks.ply_cost - score))
        lines = self._strategy([start], HOLD, 0)
        return Proof(game, "draw", lines + self._strategy(replies, HOLD, 0))

    def _shortest(self, score: int) -> list[str]:
        """The first player's strategy, by the best opening that needs the fewest positions."""
        game, start = self.game, self.game.initial()
        openings: dict[Any, int] = {}
        for action in self.solver.best(start, score, self.clock):
            child = game.play(start, action)
            openings.setdefault(min(game.moved(child, turn) for turn in game.symmetries()), action)
        found: list[list[str]] = []
        refused = None
        for action in openings.values():
            self.listed, self.bytes = 0, _HEAD
            try:
                found.append(self._strategy([start], WIN, score, opening=action))
            except TooLarge as error:
                refused = error
        if refused is not None and not found:
            raise refused
        return min(found, key=len)

    def _strategy(self, layer: Any, goal: int, least: int, opening: int | None = None) -> list[str]:
        """The lines of a strategy from these states on; its owner is to move in all of them.

        `least` is what each of them is worth, or less.
        """
        lines: list[str] = []
        while len(layer):
            queue = _Queue(self.game)
            for begin in range(0, len(layer), _SLICE):
                choice = self._arrange(layer[begin : begin + _SLICE], goal)
                if opening is None:
                    self._pick(choice, least)
                else:
                    choice.moves[0, 0], choice.at[0], opening = opening, 0, None
                queue.add(choice)
                lines += self._lines(choice)
                self._limit(lines[-len(choice.at) :], queue.used)
            layer = queue.states[: queue.used]
            least += 2 * self.game.hooks.ply_cost * (goal == WIN)
        return lines

    def _arrange(self, states: Any, goal: int) -> _Choice:
        """The moves worth trying in each state."""
        import numpy as np

        owned = np.ascontiguousarray(states, np.uint64).reshape(-1, self.game.num_words)
        moves = np.zeros((len(owned), 2 * strategy_kernel.ROOM), np.int64)
        counts, held = np.zeros((2, len(owned)), np.int64)
        pairs = np.zeros((len(owned), strategy_kernel.MAX_PAIRS), np.uint64)
        stack = np.zeros((strategy_kernel.MAX_PAIRS + 1, 2), np.int64)
        run = compiled(strategy_kernel.arrange, self.game.hooks)
        run(owned, goal, self.winning, self.tries, moves, counts, pairs, held, stack)
        begin = strategy_kernel.UNSCORED if goal == WIN else 0
        return _Choice(owned, moves, counts, pairs, held, np.where(held < 0, begin, 0))

    def _pick(self, choice: _Choice, least: int) -> None:
        """One of those moves for each state, by the solver."""
        import numpy as np

        run = compiled(strategy_kernel.pick, self.game.hooks)
        wanted = np.zeros(len(choice.at), np.int64)
        root = np.zeros((1, self.game.num_words), np.uint64)
        arrays = (least, choice.moves, choice.held, choice.at, wanted, root)
        self.solver.runner.work_through(run, choice.owned, arrays, self.clock)
        assert (choice.at < choice.counts).all(), "a state is not worth what the solver said"

    def _lines(self, choice: _Choice) -> list[str]:
        """A line for each state: the board, the move, and the pairs that hold it."""
        import numpy as np

        cells = np.arange(self.game.grid.size, dtype=np.uint64)
        first = choice.owned[:, 2:] == 0  # whose stones are the mover's
        mine, theirs = ((choice.owned[:, i, None] >> cells) & np.uint64(1) for i in (0, 1))
        marks = np.where(first, mine + 2 * theirs, theirs + 2 * mine)
        boards = np.frombuffer(b".XO", np.uint8)[marks]
        lines = []
        for board, row, action, held, pairs in zip(
            boards, choice.owned, choice.actions, choice.held, choice.pairs, strict=True
        ):
            state = tuple(map(int, row))
            cell = lowest(self.game.play(state, int(action))[1] ^ state[0])
            line = f"{board.tobytes().decode()} {self.names[cell]}"
            if held >= 0:
                shown = ("-".join(self.names[i] for i in bits(int(p))) for p in pairs[:held])
                line = " ".join((line, "pairs", *shown))
            lines.append(line)
        return lines

    def _limit(self, lines: list[str], waiting: int) -> None:
        """Count these lines; TooLarge when they, and those to come, are too many."""
        self.listed += len(lines)
        self.bytes += sum(map(len, lines)) + len(lines)
        self._say(self.clock.nodes)
        found = self.listed + waiting
        if found > MAX_POSITIONS or self.bytes > MAX_BYTES:
            msg = (
                f"{self.game.spec} is too large for a proof file: {found:,} positions "
                f"so far, at most {MAX_POSITIONS:,} and {MAX_BYTES // 10**6} MB are written"
            )
            raise TooLarge(msg)


class _Queue:
    """Distinct states, in the order they were found."""

    def __init__(self, game: WordLineGame) -> None:
        import numpy as np

        self.game, self.used, self._placed = game, 0, 0
        self.states: NDArray[Any] = np.zeros((0, game.num_words), np.uint64)
        self._slots: NDArray[Any] = np.zeros(1, np.int32)

    def add(self, choice: _Choice) -> None:
        """The states after every reply to the chosen moves."""
        import numpy as np

        most = self.used + len(choice.owned) * self.game.num_actions
        if most > len(self.states):
            larger = np.zeros((2 * most, self.game.num_words), np.uint64)
            larger[: self.used] = self.states[: self.used]
            self.states = larger
            self._slots, self._placed = np.zeros(4 * most, np.int32), 0
        run = compiled(strategy_kernel.spread, self.game.hooks)
        actions = np.ascontiguousarray(choice.actions)
        self._placed = self.used = run(
            choice.owned, actions, choice.held, self.states, self._slots, self._placed, self.used
        )
