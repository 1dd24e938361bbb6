"""The trial of a user's game: play random games and check every value that the rules return.

Every rule is called twice, since rules must be deterministic: see `determinism`.
"""

import random
from typing import Any, NoReturn

from zermelo.core.bitboard import WORD_BITS
from zermelo.core.errors import BadSpec
from zermelo.core.game import Game, WordGame
from zermelo.core.notation import Grid, quote_text
from zermelo.games import determinism
from zermelo.games.determinism import RuleValues

MAX_ACTIONS = 1000  #: of a bitboard game
_NUM_GAMES, _MAX_PLIES = 20, 5_000
_MIN_STATES, _MAX_GAMES = 200, 200  # play until there are enough states, or too many games
_NUM_THOROUGH = 50  # the number of states in the first game in which every action is played


def check_game(game: Game) -> None:
    """Raise BadSpec if the rules break the contract or a random game does not end.

    The message names the rule and what it returned.
    """
    number: Any = getattr(game, "num_actions", None)
    if not isinstance(number, int) or number < 1:
        _refuse(game, "num_actions", number, "it must be the number of actions")
    if isinstance(game, WordGame) and number > MAX_ACTIONS:
        _refuse(game, "num_actions", number, f"a bitboard game has at most {MAX_ACTIONS} actions")
    first, second = game.initial(), game.initial()
    _check_state(game, first)
    if first != second:
        determinism.refuse(game, "initial", first, second, "the start of the game")
    _check_presentation(game)
    rng = random.Random(0)
    states = _check_random_game(game, rng, _NUM_THOROUGH)
    num_games, num_states = 1, len(states)
    while num_games < _NUM_GAMES or (num_states < _MIN_STATES and num_games < _MAX_GAMES):
        num_states += len(_check_random_game(game, rng))
        num_games += 1
    # Other games have been played in the meantime; the rules must still return the same values.
    for state, values in states:
        determinism.check_repeatable(game, state, before=values)


def _check_random_game(
    game: Game, rng: random.Random, num_thorough: int = 0
) -> list[tuple[Any, RuleValues]]:
    """Play a random game; return its states, each with the values that the rules returned.

    In the first `num_thorough` states every legal action is tried, later only the chosen one.
    """
    state, states = game.initial(), list[tuple[Any, RuleValues]]()
    while actions := _check_state(game, state):
        if len(states) == _MAX_PLIES:
            msg = f"{game.spec}: a random game did not end within {_MAX_PLIES:,} plies"
            raise BadSpec(msg)
        action = rng.choice(actions)
        is_thorough = len(states) < num_thorough
        values = determinism.check_repeatable(game, state, actions if is_thorough else [action])
        child = values.children[action]
        if game.is_alternating and game.player(child) != 1 - game.player(state):
            expected = "the sides must take turns, unless the game sets is_alternating = False"
            _refuse(game, "player", game.player(child), expected)
        states.append((state, values))
        state = child
    determinism.check_repeatable(game, state)
    return states


def _check_state(game: Game, state: Any) -> list[int]:
    """Check all values that the rules return for a state, and return its legal actions."""
    try:
        hash(state)
    except TypeError:
        _refuse(game, "state", state, "it must be immutable, such as a tuple")
    if isinstance(game, WordGame):
        _check_words(game, state)
    player = game.player(state)
    if player not in (0, 1):
        _refuse(game, "player", player, "it must be 0 or 1")
    result: Any = game.result(state)
    if not isinstance(result, tuple) or len(result) != 2:
        _refuse(game, "result", result, "it must be (is_over, value)")
    over, value = result
    if over not in (True, False) or value not in (-1, 0, 1):
        _refuse(game, "result", result, "it must be True or False, and then 1, 0 or -1")
    if not over and value != 0:
        _refuse(game, "result", result, "the value must be 0 while the game runs")
    actions: Any = game.actions(state)
    if not isinstance(actions, list) or not all(type(action) is int for action in actions):
        _refuse(game, "actions", actions, "it must be a list of ints")
    if actions != sorted(set(actions)) or not all(0 <= a < game.num_actions for a in actions):
        _refuse(game, "actions", actions, f"they must ascend within 0 to {game.num_actions - 1}")
    if bool(actions) == bool(over):
        expected = "there must be none when the game is over, and some while it runs"
        _refuse(game, "actions", actions, expected)
    _check_moves(game, state, actions)
    return list(actions)


def _check_moves(game: Game, state: Any, actions: list[int]) -> None:
    """Check that the moves of a state are distinct words."""
    texts: Any = [game.to_text(state, action) for action in actions]
    for text in texts:
        if not isinstance(text, str) or len(text.split()) != 1 or "," in text or len(text) > 40:
            _refuse(game, "to_text", text, "a move must be one short word without commas")
    for action, text in zip(actions, texts, strict=True):
        again = game.to_text(state, action)
        if again != text:
            determinism.refuse(game, "to_text", text, again, f"the same action {action}")
    if len({text.lower() for text in texts}) != len(texts):
        duplicate = next(text for text in texts if texts.count(text) > 1 or text != text.lower())
        _refuse(game, "to_text", duplicate, "two actions share this move")


def _check_presentation(game: Game) -> None:
    """Check that symbols, board size and drawing are valid."""
    symbols: Any = game.symbols
    if not isinstance(symbols, str) or len(symbols) != 2:
        _refuse(game, "symbols", symbols, "it must be two letters, such as XO")
    grid: Any = game.grid
    if grid is not None and not isinstance(grid, Grid):
        _refuse(game, "grid", grid, "it must be a zermelo.core.notation.Grid")
    state = game.initial()
    board: Any = game.board(state)
    if grid is not None and (not isinstance(board, tuple) or len(board) != grid.size):
        _refuse(game, "board", board, f"it must be a tuple of {grid.size} cells")
    drawing: Any = game.draw(state)
    if not isinstance(drawing, str):
        _refuse(game, "draw", drawing, "it must be a string")


def _check_words(game: WordGame, state: Any) -> None:
    if not isinstance(state, tuple) or len(state) != game.num_words:
        _refuse(game, "state", state, f"it must be a tuple of {game.num_words} words")
    if not all(type(word) is int and 0 <= word < 1 << WORD_BITS for word in state):
        _refuse(game, "state", state, "a word must be an int of at most 64 bits")


def _refuse(game: Game, rule: str, value: Any, expected: str) -> NoReturn:
    kind = "bitboard game" if isinstance(game, WordGame) else "game"
    msg = f"{game.spec}: this {kind}'s {rule} is {quote_text(repr(value))}: {expected}"
    raise BadSpec(msg)
