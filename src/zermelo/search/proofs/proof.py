"""Proofs of a game's value: a file with a strategy for the winner or, in a draw, for each side.

`check_proof.py` checks the file without using any other module of this package; docs/proofs.md
describes the format.
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
from zermelo.games.user_games import is_game_file
from zermelo.kernels.compiler import compile_kernel
from zermelo.search.limits import SearchClock
from zermelo.search.proofs import strategy_kernel
from zermelo.search.proofs.rules_proof import RulesProof, prove_rules
from zermelo.search.proofs.strategy_kernel import HOLD, MAX_MOVES, MAX_PAIRS, UNSCORED, WIN
from zermelo.search.solver.solution import solver_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_POSITIONS = 2_000_000
MAX_BYTES = 20_000_000
_HEADER_BYTES = 400  # an upper bound of the header's size
_SLICE = 1 << 12  # states between two checks of the limits
_KERNEL_SLICE = 1 << 5  # states in one call of a kernel, which Ctrl-C cannot interrupt
_PAIRING_STEPS = 200  # maximum steps of the search for a pairing strategy after a move

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Proof:
    """A claim about a game, and a line for each position in which a strategy prescribes a move."""

    game: WordLineGame
    claim: str  #: the winner, "first" or "second", or "draw"
    lines: list[str]

    def to_text(self) -> str:
        """Return the text of the file."""
        game = self.game
        rules = (
            f"rows {game.rows} cols {game.cols} win {game.win} lose {game.lose} "
            f"gravity {int(game.gravity)} exact {int(game.exact)}"
        )
        header = ("zermelo proof 1", f"game {game.spec}", rules, f"claim {self.claim}")
        return "\n".join([*header, *self.lines, ""])

    def write(self, path: Path) -> int:
        """Write the file atomically and return its size in bytes."""
        data = self.to_text().encode("ascii")
        write_atomically(path, data, durable=True, mode=0o644)
        return len(data)


def prove(game: Game, progress: Progress | None = None) -> Proof | RulesProof:
    """Return a proof of a game's value; for a game in a Python file, this is a `RulesProof`.

    Raise TooLarge if the proof is too large for a file, or ZermeloError if the checker does not
    support the rules of the game.

    >>> import zermelo as z
    >>> proof = prove(z.game("mnk:4x4x3"))
    >>> proof.claim, len(proof.lines), proof.lines[0]
    ('first', 16, '................ b2')
    """
    report = progress or (lambda _text: None)
    if is_game_file(game.spec):
        return prove_rules(game, report)
    return _Prover(_require_line_game(game), report).prove()


def _require_line_game(game: Game) -> WordLineGame:
    """Return the game if solver and checker support it; raise ZermeloError otherwise."""
    if isinstance(game, BoardGame):
        reason = "the solver supports boards of at most 64 cells"
    elif type(game) is not WordLineGame:
        reason = "the checker supports only line games: tictactoe, mnk, connect4, squava, …"
    elif game.pie:
        reason = "the checker does not support the pie rule: omit pie=true"
    else:
        return game
    msg = f"cannot prove {game.spec} in a file: {reason}"
    raise ZermeloError(msg)


@dataclass
class _MoveChoices:
    """The candidate moves of a slice of states, and the chosen one for each state."""

    states: Any  # [state, word]
    candidates: Any  # [state, number]: actions, lowest cost first
    counts: Any  # [state]: number of candidates
    pairs: Any  # [state, number]: the pairs of a pairing strategy as masks
    num_pairs: Any  # [state]: number of pairs, or NO_PAIRING
    chosen: Any  # [state]: index of the chosen candidate

    @property
    def actions(self) -> Any:
        """The chosen action of each state."""
        return self.candidates[range(len(self.chosen)), self.chosen]


class _Prover:
    """Finds the strategies of one proof."""

    def __init__(self, game: WordLineGame, progress: Progress) -> None:
        import numpy as np

        self.game, self.progress = game, progress
        self.num_positions, self.num_bytes = 0, _HEADER_BYTES
        self.clock = SearchClock(progress=self._report)
        self.solver = solver_for(game)
        masks = [
            sum(1 << (cell + n * step) for n in range(game.win))
            for cell, step in list_windows(game.grid, game.win)
        ]
        self.winning_lines: NDArray[Any] = np.array(masks, np.uint64)
        # Pairing may fail: with gravity the reply may be illegal, with losing lines it may lose.
        self.pairing_steps = -1 if game.lose else 0 if game.gravity else _PAIRING_STEPS
        self.cell_names = [game.grid.text(cell) for cell in range(game.grid.size)]

    def _report(self, nodes: int) -> None:
        self.progress(f"{self.num_positions:,} positions listed, {nodes:,} searched")

    def prove(self) -> Proof:
        """Find the value of the game, then the strategies that prove it."""
        game, start = self.game, self.game.initial()
        replies = [game.play(start, action) for action in game.actions(start)]
        replies = [state for state in replies if not game.result(state)[0]]
        score = 0
        # A pairing strategy for the second player proves a draw without search.
        if not replies or self._list_candidates(replies, HOLD).num_pairs.min() < 0:
            score = self.solver.score(start, self.clock)
        if score > 0:
            return Proof(game, "first", self._shortest_win(score))
        if score < 0:
            min_score = game.hooks.ply_cost - score
            return Proof(game, "second", self._find_strategy(replies, WIN, min_score))
        lines = self._find_strategy([start], HOLD, 0)
        return Proof(game, "draw", lines + self._find_strategy(replies, HOLD, 0))

    def _shortest_win(self, score: int) -> list[str]:
        """Return a winning strategy for the first player.

        Of all best opening moves, choose the one whose strategy needs the fewest lines.
        """
        game, start = self.game, self.game.initial()
        openings: dict[Any, int] = {}
        for action in self.solver.best_actions(start, score, self.clock):
            child = game.play(start, action)
            canonical = min(game.transform(child, symmetry) for symmetry in game.symmetries())
            openings.setdefault(canonical, action)
        strategies: list[list[str]] = []
        too_large = None
        for action in openings.values():
            self.num_positions, self.num_bytes = 0, _HEADER_BYTES
            try:
                strategies.append(self._find_strategy([start], WIN, score, opening=action))
            except TooLarge as error:
                too_large = error
        if too_large is not None and not strategies:
            raise too_large
        return min(strategies, key=len)

    def _find_strategy(
        self, layer: Any, goal: int, min_score: int, opening: int | None = None
    ) -> list[str]:
        """Return the lines of a strategy that starts in these states, with its owner to move.

        `min_score` is a lower bound of the scores of these states.
        """
        lines: list[str] = []
        while len(layer):
            queue = _StateQueue(self.game)
            for begin in range(0, len(layer), _SLICE):
                choices = self._list_candidates(layer[begin : begin + _SLICE], goal)
                if opening is None:
                    self._choose_moves(choices, min_score)
                else:
                    choices.candidates[0, 0], choices.chosen[0], opening = opening, 0, None
                queue.append_replies(choices)
                lines += self._to_lines(choices)
                self._check_size(lines[-len(choices.chosen) :], queue.used)
            layer = queue.states[: queue.used]
            min_score += 2 * self.game.hooks.ply_cost * (goal == WIN)
        return lines

    def _list_candidates(self, states: Any, goal: int) -> _MoveChoices:
        """List the moves of each state that do not fail immediately."""
        import numpy as np

        states = np.ascontiguousarray(states, np.uint64).reshape(-1, self.game.num_words)
        candidates, costs = np.zeros((2, len(states), MAX_MOVES), np.int64)
        counts, num_pairs = np.zeros((2, len(states)), np.int64)
        pairs = np.zeros((len(states), MAX_PAIRS), np.uint64)
        stack = np.zeros((MAX_PAIRS + 1, 2), np.int64)
        run = compile_kernel(strategy_kernel.list_candidate_moves, self.game.hooks)
        goal_and_rules = goal, self.winning_lines, self.pairing_steps
        for begin in range(0, len(states), _KERNEL_SLICE):
            rows = slice(begin, begin + _KERNEL_SLICE)
            outputs = (a[rows] for a in (candidates, costs, counts, pairs, num_pairs))
            run(states[rows], *goal_and_rules, *outputs, stack)
        chosen = np.where(num_pairs < 0, UNSCORED if goal == WIN else 0, 0)
        return _MoveChoices(states, candidates, counts, pairs, num_pairs, chosen)

    def _choose_moves(self, choices: _MoveChoices, min_score: int) -> None:
        """Choose a candidate for each state with the solver."""
        import numpy as np

        run = compile_kernel(strategy_kernel.choose_moves, self.game.hooks)
        scores = np.zeros(len(choices.chosen), np.int64)
        arguments = (min_score, choices.candidates, choices.num_pairs, choices.chosen, scores)
        self.solver.searcher.run_batch(run, choices.states, arguments, self.clock)
        assert (choices.chosen < choices.counts).all(), "no candidate reaches the solver's score"

    def _to_lines(self, choices: _MoveChoices) -> list[str]:
        """Return a line for each state: the board, the move, and the pairs that hold the draw."""
        import numpy as np

        cells = np.arange(self.game.grid.size, dtype=np.uint64)
        is_first = choices.states[:, 2:] == 0  # whether the first player is to move
        mine, theirs = ((choices.states[:, i, None] >> cells) & np.uint64(1) for i in (0, 1))
        marks = np.where(is_first, mine + 2 * theirs, theirs + 2 * mine)
        boards = np.frombuffer(b".XO", np.uint8)[marks]
        lines = []
        for board, row, action, num_pairs, pairs in zip(
            boards, choices.states, choices.actions, choices.num_pairs, choices.pairs, strict=True
        ):
            state = tuple(map(int, row))
            cell = lowest(self.game.play(state, int(action))[1] ^ state[0])
            line = f"{board.tobytes().decode()} {self.cell_names[cell]}"
            if num_pairs >= 0:
                texts = (
                    "-".join(self.cell_names[i] for i in bits(int(pair)))
                    for pair in pairs[:num_pairs]
                )
                line = " ".join((line, "pairs", *texts))
            lines.append(line)
        return lines

    def _check_size(self, lines: list[str], num_pending: int) -> None:
        """Count these lines; raise TooLarge if they and the pending ones exceed the limits."""
        self.num_positions += len(lines)
        self.num_bytes += sum(map(len, lines)) + len(lines)
        self._report(self.clock.nodes)
        total = self.num_positions + num_pending
        if total > MAX_POSITIONS or self.num_bytes > MAX_BYTES:
            msg = (
                f"{self.game.spec} is too large for a proof file: {total:,} positions so far; "
                f"a file has at most {MAX_POSITIONS:,} positions and {MAX_BYTES // 10**6} MB"
            )
            raise TooLarge(msg)


class _StateQueue:
    """Distinct states, in the order in which they were found."""

    def __init__(self, game: WordLineGame) -> None:
        import numpy as np

        self.game, self.used, self._num_indexed = game, 0, 0
        self.states: NDArray[Any] = np.zeros((0, game.num_words), np.uint64)
        self._slots: NDArray[Any] = np.zeros(1, np.int32)

    def append_replies(self, choices: _MoveChoices) -> None:
        """Append each state that results from a reply to a chosen move."""
        import numpy as np

        most = self.used + len(choices.states) * self.game.num_actions
        if most > len(self.states):
            larger = np.zeros((2 * most, self.game.num_words), np.uint64)
            larger[: self.used] = self.states[: self.used]
            self.states = larger
            self._slots, self._num_indexed = np.zeros(4 * most, np.int32), 0
        run = compile_kernel(strategy_kernel.append_replies, self.game.hooks)
        actions = np.ascontiguousarray(choices.actions)
        index = self._slots, self._num_indexed, self.used
        self._num_indexed = self.used = run(
            choices.states, actions, choices.num_pairs, self.states, *index
        )
