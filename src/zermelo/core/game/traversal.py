"""How playouts and tree search traverse a game, whatever the representation of its states.

Playout and tree-search kernels call only these methods of a game, so one kernel works for every
game. A traversal begins at a **root**, a row of an array. A step may overwrite the state that it
is given: words are values, but a large board is one array, which every step changes. `buffer` and
`moves` are arrays that the caller provides.

The classes below are mixins for the classes of the contract and use their rules (`self: Any`).
"""

from typing import Any

from zermelo.core.bitboard import lowest, mix, popcount, scale, select, word

STRIDE = 0x9E3779B97F4A7C15  # splitmix64's step, an odd number near 2**64 / golden ratio


class PlainTraversal:
    """Traversal of any game in plain Python: a root is a row that holds the state itself."""

    def to_root(self: Any, state: Any) -> list[Any]:
        """Return a state as a row."""
        return [state]

    def load_root(self: Any, roots: Any, row: Any, buffer: Any) -> Any:  # noqa: ARG002 - for boards
        """Return the state that is stored in this row of the array."""
        return roots[row][0]

    def store_root(self: Any, roots: Any, row: Any, state: Any) -> None:
        """Write a state to a row."""
        roots[row][0] = state

    def step(self: Any, state: Any, action: Any) -> Any:
        """Return the state after a legal action; the old state must not be used again."""
        return self.play(state, action)

    def current_result(self: Any, state: Any) -> Any:
        """Return (is_over, value for the side to move)."""
        return self.result(state)

    def resolve_value(self: Any, state: Any) -> Any:  # noqa: ARG002 - a default
        """Return (is_known, value) of a state that is not over, if it is known without search."""
        return False, 0

    def list_candidates(self: Any, state: Any, moves: Any) -> Any:
        """Do the same as `list_moves`, but omit actions known to be no better than others."""
        return self.list_moves(state, moves)

    def list_moves(self: Any, state: Any, moves: Any) -> Any:
        """Write the legal actions to `moves` and return their number."""
        actions = self.actions(state)
        moves[: len(actions)] = actions
        return len(actions)

    def play_out(self: Any, state: Any, rng: Any, moves: Any) -> Any:
        """Play at random to the end; return (value for the side to move, next rng, ply count)."""
        over, value = self.current_result(state)
        sign, steps = 1, 0
        while not over:
            count = self.list_moves(state, moves)
            rng = word(rng + STRIDE)
            state = self.step(state, int(moves[scale(mix(rng), count)]))
            over, value = self.current_result(state)
            sign = -sign
            steps += 1
        return sign * value, rng, steps


class WordTraversal:
    """Traversal of a bitboard game: a root is the state, one word in each column."""

    def to_root(self: Any, state: Any) -> list[Any]:
        """Return a state as a row."""
        return list(state)

    def load_root(self: Any, roots: Any, row: Any, buffer: Any) -> Any:  # noqa: ARG002 - for boards
        """Return the state that is stored in this row of the array."""
        return self.load(roots, row)

    def store_root(self: Any, roots: Any, row: Any, state: Any) -> None:
        """Write a state to a row."""
        self.store(roots, row, state)

    def step(self: Any, state: Any, action: Any) -> Any:
        """Return the state after a legal action."""
        return self.play(state, action)

    def current_result(self: Any, state: Any) -> Any:
        """Return (is_over, value for the side to move)."""
        return self.result(state)

    def list_moves(self: Any, state: Any, moves: Any) -> Any:
        """Write the legal actions to `moves` and return their number."""
        mask = self.legal(state)
        if mask == 0:
            moves[0] = self.num_actions - 1
            return 1
        count = 0
        while mask != 0:
            moves[count] = lowest(mask)
            mask = mask & (mask - word(1))
            count += 1
        return count

    def play_out(self: Any, state: Any, rng: Any, moves: Any) -> Any:  # noqa: ARG002 - masks do
        """Play at random to the end; return (value for the side to move, next rng, ply count)."""
        stride = word(STRIDE)
        over, value = self.result(state)
        steps = 0
        while not over:
            mask = self.legal(state)
            action = self.num_actions - 1
            if mask != 0:
                rng = word(rng + stride)
                action = select(mask, scale(mix(rng), popcount(mask)))
            state = self.play(state, action)
            over, value = self.result(state)
            steps += 1
        return (value if steps & 1 == 0 else -value), rng, steps


class BoardTraversal:
    """Traversal of a game of more than 64 cells: a root is its padded board and the player to move.

    A state of the traversal is (cells, free cells, player, is_over, value for the side to move).
    """

    def to_root(self: Any, state: Any) -> list[Any]:
        """Return a state as a row."""
        return [*self.to_padded_board(state), self.player(state)]

    def load_root(self: Any, roots: Any, row: Any, buffer: Any) -> Any:
        """Copy a row to the board in `buffer` and return its state, which must not be over."""
        left = 0
        for place in range(len(buffer)):
            buffer[place] = roots[row, place]
            left += 1 if buffer[place] == 0 else 0
        return buffer, left, 1 - (1 - int(roots[row, len(buffer)])), left == 0, left - left

    def store_root(self: Any, roots: Any, row: Any, state: Any) -> None:
        """Write a state to a row."""
        cells, _left, player, _over, _value = state
        for place in range(len(cells)):
            roots[row, place] = word(cells[place])
        roots[row, len(cells)] = word(player)

    def step(self: Any, state: Any, action: Any) -> Any:
        """Put a stone on the board of a state and return the state after it."""
        cells, left, player, _over, _value = state
        at = self.landing(cells, action)
        cells[at] = 1 + player
        over, value = self.result_after(cells, at, left - 1)
        return cells, left - 1, 1 - player, over, value

    def current_result(self: Any, state: Any) -> Any:
        """Return (is_over, value for the side to move), as the last step determined it."""
        return state[3], state[4]

    def list_moves(self: Any, state: Any, moves: Any) -> Any:
        """Write the legal actions to `moves` and return their number."""
        return self.list_legal(state[0], moves)

    def play_out(self: Any, state: Any, rng: Any, moves: Any) -> Any:
        """Play at random to the end; return (value for the side to move, next rng, ply count).

        The actions are listed once; those that are exhausted are removed from the list.
        """
        stride = word(STRIDE)
        count = self.list_legal(state[0], moves)
        over, value = self.current_result(state)
        steps = 0
        while not over:
            rng = word(rng + stride)
            chosen = scale(mix(rng), count)
            state = self.step(state, int(moves[chosen]))
            if self.is_exhausted(state[0], moves[chosen]):
                count -= 1
                moves[chosen] = moves[count]
            over, value = self.current_result(state)
            steps += 1
        return (value if steps & 1 == 0 else -value), rng, steps
