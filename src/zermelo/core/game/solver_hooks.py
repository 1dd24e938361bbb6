"""Solver hooks: knowledge about a bitboard game that the solver uses in addition to the rules."""

import functools
from typing import TYPE_CHECKING, Any

from zermelo.core.bitboard import Word

if TYPE_CHECKING:
    from zermelo.core.game.word_game import WordGame


class SolverHooks:
    """The methods and constants of a bitboard game that search kernels use beyond its rules.

    The defaults use only the rules, so every `WordGame` can be solved. A game may set `hooks_class`
    to a subclass that makes the search faster. Attributes that are not found here are looked up on
    the game, so a kernel that is compiled for the hooks sees both. Like rules, these methods are
    compiled, and annotated constants become part of the compiled code.

    A score is an int for the side to move: `win_score - n` for a win in n plies, `n - win_score`
    for a loss in n plies, 0 for a draw. A move is named by the index of its bit in the mask that
    `resolve` returns; `to_action` gives its action.
    """

    win_score: int = 1000  #: greater than the length of any game in plies
    min_win_plies: int = 1  #: `resolve` finds every win in fewer plies than this
    min_loss_plies: int = 1  #: `resolve` finds every loss in fewer plies than this
    history_weight: int = 0  #: the weight of the history heuristic relative to `rank_move`
    #: whether to search first for wins and losses within a few plies, which helps in long games
    short_wins_first: bool = False
    estimate_scale: float = 1000.0  #: an estimate of this size corresponds to a value of tanh(1)
    has_one_word_key: bool = False  #: whether the transposition table uses `pack` as its key

    def __init__(self, game: "WordGame") -> None:
        self.game = game

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the game; called for names that the hooks do not define."""
        if name == "game" or name.startswith("__"):  # while a copy or a pickle is being restored
            raise AttributeError(name)
        return getattr(self.game, name)

    def __eq__(self, other: object) -> bool:
        """Compare class and game; subclasses with parameters must also compare the parameters."""
        return type(self) is type(other) and self.game == other.game

    def __hash__(self) -> int:
        """Return a hash that agrees with equality."""
        return hash((type(self), self.game))

    # Scores and bounds that are known without search.

    @functools.cached_property
    def ply_cost(self) -> int:
        """1 if scores encode the distance to the end; 0 in games with scores of their own."""
        return 0 if self.game.has_scores else 1

    def resolve(self, state: Any) -> Any:
        """Return (is_known, score, moves): `score` if it is known, else a mask of moves to search.

        Moves that cannot be better than the others may be left out.
        """
        over, value = self.result(state)
        score = value * self.win_score
        if self.has_scores:
            score = self.score(state) if over else 0
        return over, score, self.legal(state)

    def resolve_in_window(self, state: Any, alpha: Any, beta: Any) -> Any:  # noqa: ARG002 - a default
        """Return (is_known, score); `score` may be a bound if it is outside the window."""
        return False, 0

    def resolve_child(self, state: Any, index: Any) -> Any:
        """Resolve the state after a move, which must be one that `resolve` has returned."""
        return self.resolve(self.as_words(self.play_index(state, index)))

    def score_bounds(self, state: Any, alpha: Any, beta: Any) -> Any:  # noqa: ARG002 - a default
        """Return bounds (low, high) on the score of a state that `resolve` does not know.

        A bound that causes no cutoff with the window (alpha, beta) need not be tight.
        """
        return self.min_loss_plies - self.win_score, self.win_score - self.min_win_plies

    def have_disjoint_futures(self, root: Any, image: Any) -> Any:  # noqa: ARG002 - a default
        """Return whether no state can be reached both from a root and from its symmetric image."""
        return False

    def max_plies(self, state: Any) -> int:  # noqa: ARG002 - a default
        """Return an upper bound on the number of plies to the end, not counting passes."""
        return self.win_score - 1

    # Moves.

    def play_index(self, state: Any, index: Any) -> Any:
        """Return the state after the move whose bit in the mask of `resolve` has this index."""
        return self.play(state, index)

    def to_action(self, index: int) -> int:
        """Return the action of the move with this index."""
        return index

    def rank_move(self, state: Any, index: Any) -> Any:  # noqa: ARG002 - a default
        """Return a rank for the move with this index; moves of higher rank are searched first."""
        return 0

    # Estimates.

    def evaluate(self, state: Any) -> Any:  # noqa: ARG002 - a default
        """Return an estimate of the score at a leaf; it must be small compared with `win_score`."""
        return 0

    def evaluate_network(self, state: Any, weights: Any, buffer: Any) -> Any:  # noqa: ARG002
        """Return a network's estimate of the score; `buffer` has room for the network's layers."""
        return 0

    # The transposition table.

    def should_store(self, state: Any) -> Any:  # noqa: ARG002 - a default
        """Return whether to store a state in the table; False if searching it again is cheaper."""
        return True

    def pack(self, state: Any) -> Any:
        """Return one word that identifies a state, in games where that is possible."""
        return state[0]

    def key(self, state: tuple[Word, ...]) -> tuple[Word, ...]:
        """Return the key of a state in the table; compiled code has its own version."""
        return (self.pack(state),) if self.has_one_word_key else state

    def load_key(self, table: Any, row: int) -> tuple[Word, ...]:
        """Return the key at the start of this table row; compiled code has its own version."""
        return tuple(int(x) for x in table[row, : 1 if self.has_one_word_key else self.num_words])

    def store_key(self, table: Any, row: int, key: tuple[Word, ...]) -> None:
        """Write a key to the start of this table row; compiled code has its own version."""
        table[row, : len(key)] = key

    # Methods for tree search; see `traversal`.

    def resolve_value(self, state: Any) -> Any:
        """Return (is_known, value) of an unfinished state; the value is the sign of the score."""
        known, score, _moves = self.resolve(state)
        return known, (1 if score > 0 else 0) - (1 if score < 0 else 0)

    def list_candidates(self, state: Any, moves: Any) -> Any:
        """Write to `moves` the actions of the moves that `resolve` returns; return their number."""
        _known, _score, mask = self.resolve(state)
        mask = self.as_mask(mask)
        if self.is_empty(mask):
            moves[0] = self.num_actions - 1
            return 1
        count = 0
        while not self.is_empty(mask):
            moves[count] = self.to_action(self.lowest_action(mask))
            mask = self.without_lowest(mask)
            count += 1
        return count
