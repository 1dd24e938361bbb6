"""Arrays of states [state, word] of bitboard games, for kernels that take many states at once."""

import itertools
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from zermelo.core.errors import ZermeloError
from zermelo.core.game import WordGame
from zermelo.core.position import Position
from zermelo.search.state_keys import build_symmetry_tables

if TYPE_CHECKING:
    from numpy.typing import NDArray


def check_positions(positions: Any, function: str) -> list[Position]:
    """Return positions as a list; raise ZermeloError if there is anything else among them.

    The error message names `function`, the function that the user has called.
    """
    if isinstance(positions, Position | str) or not hasattr(positions, "__iter__"):
        name = "one position" if isinstance(positions, Position) else type(positions).__name__
        msg = f"{function} takes a list of positions, not {name}"
        raise ZermeloError(msg)
    checked = list(positions)
    if set(map(type, checked)) - {Position}:
        for number, item in enumerate(checked):
            if not isinstance(item, Position):
                msg = (
                    f"{function} takes a list of positions, such as game.start(), "
                    f"but item {number} is {item!r}"
                )
                raise ZermeloError(msg)
    return checked


def to_array(game: WordGame, positions: Sequence[Position]) -> "NDArray[Any]":
    """Return the states of positions of a game as an array [state, word]."""
    import numpy as np

    # `array` reads Python ints faster than numpy does.
    words = array("Q", itertools.chain.from_iterable([position.state for position in positions]))
    return np.frombuffer(words, np.uint64).reshape(len(positions), game.num_words)


def check_and_convert(game: WordGame, positions: Any, function: str) -> "NDArray[Any]":
    """Return positions as an array [state, word]; raise ZermeloError if one is of another game."""
    checked = check_positions(positions, function)
    games = [position.game for position in checked]
    if games.count(game) != len(games):
        other = next(other for other in games if other != game)
        msg = f"{function} takes positions of {game.spec}, but one of them is of {other.spec}"
        raise ZermeloError(msg)
    return to_array(game, checked)


def canonicalise(game: WordGame, states: "NDArray[Any]") -> "NDArray[Any]":
    """Return the smallest image of each state under the symmetries of the game."""
    tables = build_symmetry_tables(game.symmetries())
    smallest = states
    for table in tables[1:]:
        image = states.copy()
        for column in range(game.num_boards):
            image[:, column] = _transform(states[:, column], table)
        smallest = _smaller(smallest, image)
    return smallest


def _transform(boards: "NDArray[Any]", table: "NDArray[Any]") -> "NDArray[Any]":
    """Return the images of boards under the symmetry with this byte table."""
    import numpy as np

    image = np.zeros_like(boards)
    for byte in range(8):
        if table[byte].any():
            image |= table[byte][(boards >> np.uint64(8 * byte)) & np.uint64(255)]
    return image


def _smaller(states: "NDArray[Any]", others: "NDArray[Any]") -> "NDArray[Any]":
    """Return the lexicographically smaller state of each row."""
    import numpy as np

    is_less = np.zeros(len(states), np.bool_)
    is_equal = np.ones(len(states), np.bool_)
    for column in range(states.shape[1]):
        is_less |= is_equal & (others[:, column] < states[:, column])
        is_equal &= others[:, column] == states[:, column]
    return np.where(is_less[:, None], others, states)
