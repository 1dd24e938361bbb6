"""The arrays with which playouts and tree search play through a game of any kind."""

import functools
from typing import TYPE_CHECKING, Any

from zermelo.core.game import BoardGame, Game, WordGame
from zermelo.kernels.compiler import compile_kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


class TraversalArrays:
    """Root states and scratch memory for the kernels that play through one game."""

    def __init__(self, game: Game, num_roots: int = 1) -> None:
        import numpy as np

        self.game = game
        self.is_native = isinstance(game, WordGame | BoardGame)
        width = len(game.to_root(game.initial()))
        dtype = np.uint64 if self.is_native else np.object_
        self.roots: NDArray[Any] = np.zeros((num_roots, width), dtype)
        self.board = np.zeros(width - 1 if isinstance(game, BoardGame) else 0, np.uint8)
        self.moves = np.zeros(game.num_actions, np.int64)

    def set_root(self, row: int, state: Any) -> None:
        """Store a state in row `row` of the array `roots`."""
        for column, part in enumerate(self.game.to_root(state)):
            self.roots[row, column] = part

    def bind_kernel(self, function: Any, *, with_hooks: bool = False) -> Any:
        """Bind a kernel to the game; it runs as plain Python if the rules do not compile."""
        if not self.is_native:
            return functools.partial(function, self.game)
        if with_hooks and isinstance(self.game, WordGame):
            return compile_kernel(function, self.game.hooks)
        return compile_kernel(function, self.game)
