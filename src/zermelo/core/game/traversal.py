"""Walks: how random play and tree search go through a game, whatever its states are made of.

One kernel serves every game because it asks only this. A walk begins at a **root**, a row of
words, and its state may be used up by the next step: words are values, but a large board is one
array that stones are put on. `room` and `moves` are arrays of the caller's to work in.

The classes below are parts of the contract's, which have the rules they ask (`self: Any`).
"""

from typing import Any

from zermelo.core.bitboard import lowest, mix, popcount, scale, select, word

STRIDE = 0x9E3779B97F4A7C15  # splitmix64's step, an odd number near 2**64 / golden ratio


class PlainTraversal:
    """Any game, in plain Python: a root is a row with the state itself."""

    def to_root(self: Any, state: Any) -> list[Any]:
        """The row that a walk begins with."""
        return [state]

    def load_root(self: Any, roots: Any, row: Any, room: Any) -> Any:  # noqa: ARG002 - words need no room
        """The state of a row."""
        return roots[row][0]

    def store_root(self: Any, roots: Any, row: Any, state: Any) -> None:
        """The state into a row."""
        roots[row][0] = state

    def step(self: Any, state: Any, action: Any) -> Any:
        """The state after a legal action; the one before is not used again."""
        return self.play(state, action)

    def current_result(self: Any, state: Any) -> Any:
        """(is it over, value for the side to move)."""
        return self.result(state)

    def resolve_value(self: Any, state: Any) -> Any:  # noqa: ARG002 - a default
        """Return (is_known, value) of a state that is not over, as far as it needs no search."""
        return False, 0

    def list_candidates(self: Any, state: Any, moves: Any) -> Any:
        """Write the legal actions to `moves` without those known to be no better than others."""
        return self.list_moves(state, moves)

    def list_moves(self: Any, state: Any, moves: Any) -> Any:
        """Write the legal actions to `moves`; return their number."""
        actions = self.actions(state)
        moves[: len(actions)] = actions
        return len(actions)

    def play_out(self: Any, state: Any, rng: Any, moves: Any) -> Any:
        """A random game from here: (value for the side to move, dice after it, moves made)."""
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
    """A game of words; a root is the state."""

    def to_root(self: Any, state: Any) -> list[Any]:
        """The row that a walk begins with."""
        return list(state)

    def load_root(self: Any, roots: Any, row: Any, room: Any) -> Any:  # noqa: ARG002 - as PlainTraversal
        """The state of a row."""
        return self.load(roots, row)

    def store_root(self: Any, roots: Any, row: Any, state: Any) -> None:
        """The state into a row."""
        self.store(roots, row, state)

    def step(self: Any, state: Any, action: Any) -> Any:
        """The state after a legal action."""
        return self.play(state, action)

    def current_result(self: Any, state: Any) -> Any:
        """(is it over, value for the side to move)."""
        return self.result(state)

    def list_moves(self: Any, state: Any, moves: Any) -> Any:
        """Write the legal actions to `moves`; return their number."""
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
        """A random game from here: (value for the side to move, dice after it, moves made)."""
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
    """A game above 64 cells; a root is its padded board and the player to move.

    A state of the walk is (cells, free cells, player, is it over, value for the side to move).
    """

    def to_root(self: Any, state: Any) -> list[Any]:
        """The row that a walk begins with."""
        return [*self.to_padded_board(state), self.player(state)]

    def load_root(self: Any, roots: Any, row: Any, room: Any) -> Any:
        """The state of a row, on the board in `room`; it is not over."""
        left = 0
        for place in range(len(room)):
            room[place] = roots[row, place]
            left += 1 if room[place] == 0 else 0
        return room, left, 1 - (1 - int(roots[row, len(room)])), left == 0, left - left

    def store_root(self: Any, roots: Any, row: Any, state: Any) -> None:
        """The state into a row."""
        cells, _left, player, _over, _value = state
        for place in range(len(cells)):
            roots[row, place] = word(cells[place])
        roots[row, len(cells)] = word(player)

    def step(self: Any, state: Any, action: Any) -> Any:
        """One stone more, on the same board."""
        cells, left, player, _over, _value = state
        at = self.landing(cells, action)
        cells[at] = 1 + player
        over, value = self.result_after(cells, at, left - 1)
        return cells, left - 1, 1 - player, over, value

    def current_result(self: Any, state: Any) -> Any:
        """As it was judged when the last stone fell."""
        return state[3], state[4]

    def list_moves(self: Any, state: Any, moves: Any) -> Any:
        """Write the legal actions to `moves`; return their number."""
        return self.list_legal(state[0], moves)

    def play_out(self: Any, state: Any, rng: Any, moves: Any) -> Any:
        """A random game from here: (value for the side to move, dice after it, moves made).

        The list of moves is made once: what is spent leaves it.
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
