"""The methods that playouts and tree search use to play through a game.

Playout and tree-search kernels call only these methods of a game, so one kernel works for every
representation of states. A traversal begins at a **root**, a state that is stored in one row of an
array. A step may overwrite the state that it is given: a tuple of words is immutable, but a large
board is one array, which every step changes. The caller provides the arrays `buffer` and `moves`.

The classes below are mixins of the game classes and call their rules, hence `self: Any`.
"""

from typing import Any

from zermelo.core.bitboard import mix, scale, word

STRIDE = 0x9E3779B97F4A7C15  # splitmix64's step, an odd number near 2**64 / golden ratio


class PlainTraversal:
    """Traversal of any game in plain Python: the row of a root holds the state itself."""

    def to_root(self: Any, state: Any) -> list[Any]:
        """Return the elements of the array row that stores this state."""
        return [state]

    def load_root(self: Any, roots: Any, row: Any, buffer: Any) -> Any:  # noqa: ARG002 - for boards
        """Return the state that is stored in this row of the array."""
        return roots[row][0]

    def store_root(self: Any, roots: Any, row: Any, state: Any) -> None:
        """Write a state to this row of the array."""
        roots[row][0] = state

    def step(self: Any, state: Any, action: Any) -> Any:
        """Return the state after a legal action; the old state must not be used again."""
        return self.play(state, action)

    def mover(self: Any, state: Any) -> Any:
        """Return the side to move."""
        return self.player(state)

    def current_result(self: Any, state: Any) -> Any:
        """Return (is_over, value for the side to move)."""
        return self.result(state)

    def resolve_value(self: Any, state: Any) -> Any:  # noqa: ARG002 - a default
        """Return (is_known, value) of an unfinished state: its value if known without search."""
        return False, 0

    def list_candidates(self: Any, state: Any, moves: Any) -> Any:
        """List actions like `list_moves`, but omit those that cannot be better than the others."""
        return self.list_moves(state, moves)

    def list_moves(self: Any, state: Any, moves: Any) -> Any:
        """Write the legal actions to `moves` and return their number."""
        actions = self.actions(state)
        moves[: len(actions)] = actions
        return len(actions)

    def play_out(self: Any, state: Any, rng: Any, moves: Any) -> Any:
        """Play random moves to the end; return (value for the mover of `state`, rng, plies)."""
        over, value = self.current_result(state)
        player, steps = self.player(state), 0
        while not over:
            count = self.list_moves(state, moves)
            rng = word(rng + STRIDE)
            state = self.step(state, int(moves[scale(mix(rng), count)]))
            over, value = self.current_result(state)
            steps += 1
        return (value if player == self.player(state) else -value), rng, steps


class WordTraversal:
    """Traversal of a bitboard game: the row of a root holds the words of the state."""

    def to_root(self: Any, state: Any) -> list[Any]:
        """Return the elements of the array row that stores this state."""
        return list(state)

    def load_root(self: Any, roots: Any, row: Any, buffer: Any) -> Any:  # noqa: ARG002 - for boards
        """Return the state that is stored in this row of the array."""
        return self.load(roots, row)

    def store_root(self: Any, roots: Any, row: Any, state: Any) -> None:
        """Write a state to this row of the array."""
        self.store(roots, row, state)

    def step(self: Any, state: Any, action: Any) -> Any:
        """Return the state after a legal action."""
        return self.play(state, action)

    def mover(self: Any, state: Any) -> Any:
        """Return the side to move."""
        return state[-1]

    def current_result(self: Any, state: Any) -> Any:
        """Return (is_over, value for the side to move)."""
        return self.result(state)

    def list_moves(self: Any, state: Any, moves: Any) -> Any:
        """Write the legal actions to `moves` and return their number."""
        mask = self.as_mask(self.legal(state))
        if self.is_empty(mask):
            moves[0] = self.num_actions - 1
            return 1
        count = 0
        while not self.is_empty(mask):
            moves[count] = self.lowest_action(mask)
            mask = self.without_lowest(mask)
            count += 1
        return count

    def play_out(self: Any, state: Any, rng: Any, moves: Any) -> Any:  # noqa: ARG002 - unused
        """Play random moves to the end; return (value for the mover of `state`, rng, plies)."""
        stride = word(STRIDE)
        begin = state
        over, value = self.result(state)
        steps = 0
        while not over:
            mask = self.as_mask(self.legal(state))
            action = self.num_actions - 1
            if not self.is_empty(mask):
                rng = word(rng + stride)
                action = self.select_action(mask, scale(mix(rng), self.count_actions(mask)))
            state = self.play(state, action)
            over, value = self.result(state)
            steps += 1
        if self.is_alternating:
            return (value if steps & 1 == 0 else -value), rng, steps
        return (value if begin[-1] == state[-1] else -value), rng, steps


class BoardTraversal:
    """Traversal of a large board: the row of a root holds the padded board and the player to move.

    During a traversal, a state is (board, number of free cells, player, is_over, value for player).
    """

    def to_root(self: Any, state: Any) -> list[Any]:
        """Return the elements of the array row that stores this state."""
        return [*self.to_padded_board(state), self.player(state)]

    def load_root(self: Any, roots: Any, row: Any, buffer: Any) -> Any:
        """Copy this row's board to `buffer` and return the state; the game must not be over."""
        left = 0
        for place in range(len(buffer)):
            buffer[place] = roots[row, place]
            left += 1 if buffer[place] == 0 else 0
        return buffer, left, 1 - (1 - int(roots[row, len(buffer)])), left == 0, left - left

    def store_root(self: Any, roots: Any, row: Any, state: Any) -> None:
        """Write a state to this row of the array."""
        cells, _left, player, _over, _value = state
        for place in range(len(cells)):
            roots[row, place] = word(cells[place])
        roots[row, len(cells)] = word(player)

    def step(self: Any, state: Any, action: Any) -> Any:
        """Put a stone on the board, which changes in place, and return the new state."""
        cells, left, player, _over, _value = state
        at = self.landing(cells, action)
        cells[at] = 1 + player
        over, value = self.result_after(cells, at, left - 1)
        return cells, left - 1, 1 - player, over, value

    def mover(self: Any, state: Any) -> Any:
        """Return the side to move."""
        return state[2]

    def current_result(self: Any, state: Any) -> Any:
        """Return (is_over, value for the side to move), which the last step computed."""
        return state[3], state[4]

    def list_moves(self: Any, state: Any, moves: Any) -> Any:
        """Write the legal actions to `moves` and return their number."""
        return self.list_legal(state[0], moves)

    def play_out(self: Any, state: Any, rng: Any, moves: Any) -> Any:
        """Play random moves to the end; return (value for the mover of `state`, rng, plies).

        The legal actions are listed once; an action that becomes illegal is removed from the list.
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
