"""A trial of a user's game: a few random games in which every answer is checked."""

import random
from typing import Any, NoReturn

from zermelo.core.bitboard import WORD_BITS
from zermelo.core.errors import BadSpec
from zermelo.core.game import Game, MaskGame, WordGame
from zermelo.core.notation import Grid, shown

GAMES, MAX_PLIES = 20, 5_000


def check(game: Game) -> None:
    """BadSpec for rules that answer nonsense or never end, with the rule and its answer."""
    number: Any = getattr(game, "num_actions", None)
    if not isinstance(number, int) or number < 1:
        _refuse(game, "num_actions", number, "it must say how many actions there are")
    if isinstance(game, WordGame) and number > WORD_BITS + 1:
        _refuse(game, "num_actions", number, "a word game has at most 64, and a pass")
    _checked(game, game.initial())
    _check_looks(game)
    rng = random.Random(0)
    for _ in range(GAMES):
        state = game.initial()
        for ply in range(MAX_PLIES + 1):
            actions = _checked(game, state)
            if not actions:
                break
            if ply == MAX_PLIES:
                msg = f"{game.spec}: a random game did not end within {MAX_PLIES:,} plies"
                raise BadSpec(msg)
            after = game.play(state, rng.choice(actions))
            if game.player(after) != 1 - game.player(state):
                _refuse(game, "player", game.player(after), "the sides take turns: add a pass")
            state = after


def _checked(game: Game, state: Any) -> list[int]:
    """The legal actions of a state, once everything that rules say of it makes sense."""
    try:
        hash(state)
    except TypeError:
        _refuse(game, "a state", state, "it must be immutable, such as a tuple")
    if isinstance(game, WordGame):
        _check_words(game, state)
    player = game.player(state)
    if player not in (0, 1):
        _refuse(game, "player", player, "it must be 0 or 1")
    result: Any = game.result(state)
    if not isinstance(result, tuple) or len(result) != 2:
        _refuse(game, "result", result, "it must be (is it over, value)")
    over, value = result
    if over not in (True, False) or value not in (-1, 0, 1):
        _refuse(game, "result", result, "it must be (True or False, 1, 0 or -1)")
    if not over and value != 0:
        _refuse(game, "result", result, "the value is 0 while the game runs")
    actions: Any = game.actions(state)
    if not isinstance(actions, list) or not all(type(action) is int for action in actions):
        _refuse(game, "actions", actions, "it must be a list of ints")
    if actions != sorted(set(actions)) or not all(0 <= a < game.num_actions for a in actions):
        _refuse(game, "actions", actions, f"they must rise from 0 to {game.num_actions - 1}")
    if bool(actions) == bool(over):
        right = "none when it is over" if over else "some while it runs"
        _refuse(game, "actions", actions, right)
    return list(actions)


def _check_looks(game: Game) -> None:
    """What people see: moves as distinct words, a letter a side, a board of the right size."""
    symbols: Any = game.symbols
    if not isinstance(symbols, str) or len(symbols) != 2:
        _refuse(game, "symbols", symbols, "it must be two letters, such as XO")
    texts: Any = [game.to_text(action) for action in range(game.num_actions)]
    for text in texts:
        if not isinstance(text, str) or len(text.split()) != 1 or "," in text or len(text) > 40:
            _refuse(game, "to_text", text, "a move is a word without spaces or commas")
    if len({text.lower() for text in texts}) != len(texts):
        twice = next(text for text in texts if texts.count(text) > 1 or text != text.lower())
        _refuse(game, "to_text", twice, "two actions share this move")
    grid: Any = game.grid
    if grid is not None and not isinstance(grid, Grid):
        _refuse(game, "grid", grid, "it must be a zermelo.core.notation.Grid")
    state = game.initial()
    board: Any = game.board(state)
    if grid is not None and (not isinstance(board, tuple) or len(board) != grid.size):
        _refuse(game, "board", board, f"it must be a tuple of {grid.size} cells")
    drawn: Any = game.draw(state)
    if not isinstance(drawn, str):
        _refuse(game, "draw", drawn, "it must be a text")


def _check_words(game: WordGame, state: Any) -> None:
    if not isinstance(state, tuple) or len(state) != game.num_words:
        _refuse(game, "a state", state, f"it must be a tuple of num_words = {game.num_words}")
    if not all(type(word) is int and 0 <= word < 1 << WORD_BITS for word in state):
        _refuse(game, "a state", state, "a word is an int of 64 bits")


def _refuse(game: Game, rule: str, answer: Any, right: str) -> NoReturn:
    kind = "word game" if isinstance(game, MaskGame) else "game"
    msg = f"{game.spec}: this {kind}'s {rule} is {shown(repr(answer))}: {right}"
    raise BadSpec(msg)
