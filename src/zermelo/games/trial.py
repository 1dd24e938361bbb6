"""The trial of a user's game: play random games and check every value that the rules return.

Every rule is called twice, since rules must be deterministic: see `determinism`. `trial_extras`
checks what a game may define in addition to the rules.
"""

import random
from typing import Any

from zermelo.core.bitboard import WORD_BITS
from zermelo.core.errors import BadSpec
from zermelo.core.game import Game, WordGame
from zermelo.games import determinism, trial_extras
from zermelo.games.determinism import RuleValues
from zermelo.games.trial_extras import refuse

MAX_ACTIONS = 1000  #: of a bitboard game
_NUM_GAMES, _MAX_PLIES = 20, 5_000
_MIN_STATES, _MAX_GAMES = 200, 200  # play until there are enough states, or too many games
_NUM_THOROUGH = 50  # the number of states in the first game in which every action is played

#: attributes that mark games with chance or hidden information, here and in other libraries
UNSUPPORTED = {
    "chance": ("chance", "chance_outcomes", "chance_actions", "is_chance", "is_chance_node"),
    "hidden information": ("information_state", "information_state_string", "observation_string"),
}
_SUPPORTED = "Zermelo supports two players, perfect information and no chance"


def check_game(game: Game) -> None:
    """Raise BadSpec if the rules break the contract or a random game does not end.

    The message names the rule and what it returned.
    """
    _check_kind(game)
    trial_extras.check_names(game)
    number: Any = getattr(game, "num_actions", None)
    if not isinstance(number, int) or number < 1:
        refuse(game, "num_actions", number, "it must be the number of actions")
    if isinstance(game, WordGame) and number > MAX_ACTIONS:
        refuse(game, "num_actions", number, f"a bitboard game has at most {MAX_ACTIONS} actions")
    first, second = game.initial(), game.initial()
    _check_state(game, first)
    if first != second:
        determinism.refuse(game, "initial", first, second, "the start of the game")
    trial_extras.check_presentation(game)
    rng, plies = random.Random(0), dict[Any, int]()
    states = _check_random_game(game, rng, plies, _NUM_THOROUGH)
    num_games, num_states = 1, len(states)
    while num_games < _NUM_GAMES or (num_states < _MIN_STATES and num_games < _MAX_GAMES):
        num_states += len(_check_random_game(game, rng, plies))
        num_games += 1
    # Other games have been played in the meantime; the rules must still return the same values.
    for state, values in states:
        determinism.check_repeatable(game, state, before=values)
    trial_extras.check_symmetries(game, [(state, values.children) for state, values in states])


def _check_kind(game: Game) -> None:
    """Refuse games with chance, hidden information or a number of players other than two."""
    for kind, members in UNSUPPORTED.items():
        for name in members:
            if hasattr(game, name):
                msg = f"{game.spec} defines {name}, but games with {kind} cannot be solved here: "
                raise BadSpec(msg + _SUPPORTED)
    number = getattr(game, "num_players", 2)
    if number != 2:
        refuse(game, "num_players", number, _SUPPORTED)


def _check_random_game(
    game: Game, rng: random.Random, plies: dict[Any, int], num_thorough: int = 0
) -> list[tuple[Any, RuleValues]]:
    """Play a random game; return its states, each with the values that the rules returned.

    In the first `num_thorough` states every legal action is tried, later only the chosen one.
    `plies` maps the states of earlier games to their plies.
    """
    state, states = game.initial(), list[tuple[Any, RuleValues]]()
    while actions := _check_state(game, state):
        _check_length(game, len(states))
        if getattr(game, "is_layered", False) and plies.setdefault(state, len(states)) != len(
            states
        ):
            seen = f"was reached in {plies[state]} and in {len(states)} plies"
            refuse(game, "state", state, f"it {seen}, so is_layered must be False")
        action = rng.choice(actions)
        is_thorough = len(states) < num_thorough
        values = determinism.check_repeatable(game, state, actions if is_thorough else [action])
        child = values.children[action]
        if game.is_alternating and game.player(child) == game.player(state):
            expected = "the sides must take turns, unless the game sets is_alternating = False"
            refuse(game, "player", game.player(child), expected)
        states.append((state, values))
        state = child
    determinism.check_repeatable(game, state)
    return states


def _check_length(game: Game, num_plies: int) -> None:
    if num_plies == _MAX_PLIES:
        msg = (
            f"{game.spec}: a random game did not end within {_MAX_PLIES:,} plies, but every game "
            "must end: a rule such as a limit on the number of moves can ensure it"
        )
        raise BadSpec(msg)
    if isinstance(game, WordGame) and num_plies >= game.hooks.win_score:
        expected = "it must be greater than the number of plies of every game"
        refuse(game, "win_score", game.hooks.win_score, expected)


def _check_state(game: Game, state: Any) -> list[int]:
    """Check all values that the rules return for a state, and return its legal actions."""
    try:
        hash(state)
    except TypeError:
        refuse(game, "state", state, "it must be immutable, such as a tuple")
    if isinstance(game, WordGame):
        _check_words(game, state)
    _check_player(game, game.player(state))
    over, value = _check_result(game, game.result(state))
    if isinstance(game, WordGame) and not over:
        _check_masks(game, game.legal(state))
    actions: Any = game.actions(state)
    if not isinstance(actions, list) or not all(type(action) is int for action in actions):
        refuse(game, "actions", actions, "it must be a list of ints")
    if actions != sorted(set(actions)) or not all(0 <= a < game.num_actions for a in actions):
        refuse(game, "actions", actions, f"they must ascend between 0 and {game.num_actions - 1}")
    if bool(actions) == bool(over):
        expected = "there must be none when the game is over, and some while it runs"
        refuse(game, "actions", actions, expected)
    trial_extras.check_moves(game, state, actions)
    trial_extras.check_values(game, state, value if over else None)
    return list(actions)


def _check_player(game: Game, player: Any) -> None:
    if player in (0, 1):
        return
    expected = "it must be 0 or 1"
    if isinstance(player, int) and player > 1:
        expected += f"; games of three or more players are not supported: {_SUPPORTED}"
    elif isinstance(player, int):
        expected += f"; chance nodes are not supported: {_SUPPORTED}"
    refuse(game, "player", player, expected)


def _check_result(game: Game, result: Any) -> tuple[bool, int]:
    if not isinstance(result, tuple) or len(result) != 2:
        refuse(game, "result", result, "it must be (is_over, value)")
    over, value = result
    if over not in (True, False) or value not in (-1, 0, 1):
        refuse(game, "result", result, "is_over must be True or False, and value 1, 0 or -1")
    if not over and value != 0:
        refuse(game, "result", result, "the value must be 0 while the game runs")
    return bool(over), int(value)


def _check_words(game: WordGame, state: Any) -> None:
    if not isinstance(state, tuple) or len(state) != game.num_words:
        refuse(game, "state", state, f"it must be a tuple of {game.num_words} words")
    if not all(type(word) is int and 0 <= word < 1 << WORD_BITS for word in state):
        refuse(game, "state", state, "a word must be an int of at most 64 bits")


def _check_masks(game: WordGame, masks: Any) -> None:
    """Check that the legal actions are one word, or a tuple of words for more than 64 actions."""
    number = game.num_masks
    if number > 1 and not (isinstance(masks, tuple) and len(masks) == number):
        expected = f"with {game.num_actions} actions it must be a tuple of {number} words"
        refuse(game, "legal", masks, expected)
    words = masks if number > 1 else (masks,)
    if not all(isinstance(word, int) and 0 <= word < 1 << WORD_BITS for word in words):
        refuse(game, "legal", masks, "a mask must be an int of at most 64 bits")
