"""Check what a user's game defines besides its rules, such as moves, drawings and symmetries."""

import math
from types import FunctionType
from typing import Any, NoReturn

from zermelo.core.bitboard import WORD_BITS
from zermelo.core.drawing import is_svg
from zermelo.core.errors import BadSpec
from zermelo.core.game import Game, WordGame
from zermelo.core.notation import Grid, quote_text
from zermelo.games import determinism


def refuse(game: Game, rule: str, value: Any, expected: str) -> NoReturn:
    """Raise BadSpec for a rule that returned a wrong value; `expected` says what is right."""
    kind = "bitboard game" if isinstance(game, WordGame) else "game"
    msg = f"{game.spec}: this {kind}'s {rule} is {quote_text(repr(value))}: {expected}"
    raise BadSpec(msg)


def check_names(game: Game) -> None:
    """Refuse a game with an attribute that hides a method of `Game`, such as `start`."""
    for cls in (Game, WordGame) if isinstance(game, WordGame) else (Game,):
        for name, member in vars(cls).items():
            if isinstance(member, FunctionType) and not callable(getattr(game, name)):
                value = getattr(game, name)
                refuse(game, name, value, "that is a method of every game: rename the attribute")


def check_presentation(game: Game) -> None:
    """Check that symbols, board size and drawings are valid."""
    symbols: Any = game.symbols
    if not isinstance(symbols, str) or len(symbols) != 2:
        refuse(game, "symbols", symbols, "it must be two letters, such as XO")
    grid: Any = game.grid
    if grid is not None and not isinstance(grid, Grid):
        refuse(game, "grid", grid, "it must be a zermelo.core.notation.Grid")
    state = game.initial()
    board: Any = game.board(state)
    if grid is not None and (not isinstance(board, tuple) or len(board) != grid.size):
        refuse(game, "board", board, f"it must be a tuple of {grid.size} cells")
    drawing: Any = game.draw(state)
    if not isinstance(drawing, str):
        refuse(game, "draw", drawing, "it must be a string")
    picture: Any = game.draw_svg(state)
    if picture is not None and not is_svg(picture):
        refuse(game, "draw_svg", picture, "it must be the text of one <svg> element, or None")


def check_moves(game: Game, state: Any, actions: list[int]) -> None:
    """Check that the moves of a state are distinct words, with valid cells."""
    texts: Any = [game.to_text(state, action) for action in actions]
    for text in texts:
        if not isinstance(text, str) or len(text.split()) != 1 or "," in text or len(text) > 40:
            refuse(game, "to_text", text, "a move must be one short word without commas")
    for action, text in zip(actions, texts, strict=True):
        again = game.to_text(state, action)
        if again != text:
            determinism.refuse(game, "to_text", text, again, f"the same action {action}")
    if len({text.lower() for text in texts}) != len(texts):
        names = [text.lower() for text in texts]
        duplicate = next(text for text in texts if names.count(text.lower()) > 1)
        refuse(game, "to_text", duplicate, "two legal actions share this move")
    size = game.grid.size if game.grid else 0
    for action in actions:
        cells: Any = game.move_cells(state, action)
        is_valid = isinstance(cells, tuple) and all(type(cell) is int for cell in cells)
        if not is_valid or not all(0 <= cell < size for cell in cells):
            expected = (
                f"it must be a tuple of cells, from 0 to {size - 1}" if size else "it must be ()"
            )
            refuse(game, "move_cells", cells, expected)


def check_values(game: Game, state: Any, value: int | None) -> None:
    """Check score, estimate and planes of a state; `value` is None if the game is not over."""
    if value is not None and game.has_scores:
        _check_score(game, state, value)
    if value is None and not isinstance(game, WordGame):
        estimate: Any = game.evaluate(state)
        is_number = isinstance(estimate, int | float) and not math.isnan(estimate)
        if not is_number or not -1 <= estimate <= 1:
            refuse(game, "evaluate", estimate, "it must be a number from -1 to 1")
    if isinstance(game, WordGame) and type(game).planes is not WordGame.planes:
        _check_planes(game, state)


def _check_score(game: Game, state: Any, value: int) -> None:
    score: Any = game.score(state)
    if type(score) is not int:
        refuse(game, "score", score, "it must be an int")
    if (score > 0) - (score < 0) != value:
        name = {1: "a win", 0: "a draw", -1: "a loss"}[value]
        expected = f"result says {name} for the side to move, so the signs do not agree"
        refuse(game, "score", score, expected)


def _check_planes(game: WordGame, state: Any) -> None:
    planes: Any = game.planes(state)
    if not isinstance(planes, tuple) or len(planes) != game.num_planes:
        refuse(
            game, "planes", planes, f"it must be a tuple of {game.num_planes} words (num_planes)"
        )
    rows, cols = game.plane_shape
    if rows * cols > WORD_BITS:
        refuse(game, "plane_shape", game.plane_shape, "a plane must have at most 64 points")
    if not all(type(plane) is int and 0 <= plane < 1 << rows * cols for plane in planes):
        expected = f"a plane must be an int of at most {rows * cols} bits, {rows}x{cols}"
        refuse(game, "planes", planes, expected)


def check_symmetries(game: Game, states: list[tuple[Any, dict[int, Any]]]) -> None:
    """Check that the symmetries of a bitboard game commute with its rules.

    Each item of `states` is a state with some of its children, by action. A wrong symmetry would
    make the solver merge positions of different value.
    """
    if not isinstance(game, WordGame):
        return
    for symmetry in game.symmetries():
        if sorted(symmetry.actions) != list(range(game.num_actions)):
            expected = f"its actions must be a permutation of 0 to {game.num_actions - 1}"
            refuse(game, "symmetries", symmetry.name, expected)
        for state, children in states:
            image = game.transform(state, symmetry)
            actions = sorted(symmetry.actions[action] for action in game.actions(state))
            if game.actions(image) != actions or game.result(image) != game.result(state):
                refuse(game, "symmetries", symmetry.name, "it changes the legal actions or results")
            for action, child in children.items():
                after = game.play(image, symmetry.actions[action])
                if after != game.transform(child, symmetry):
                    refuse(game, "symmetries", symmetry.name, "it does not commute with play")
