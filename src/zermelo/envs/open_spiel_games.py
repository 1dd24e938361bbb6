"""Register Zermelo's games with OpenSpiel, so that OpenSpiel's algorithms can play them."""

from typing import Any

import numpy as np
import pyspiel

from zermelo.core.bitboard import WORD_BITS
from zermelo.core.game import Game
from zermelo.core.position import Position
from zermelo.games import registry

_registered: dict[str, str] = {}


def register(spec: str) -> str:
    """Register a game with OpenSpiel and return the name that `pyspiel.load_game` accepts."""
    if spec not in _registered:
        name = "zermelo_" + "".join(c if c.isalnum() else "_" for c in spec)
        pyspiel.register_game(_game_type(name, spec), _game_class(name, registry.game(spec)))
        _registered[spec] = name
    return _registered[spec]


def _game_type(name: str, spec: str) -> Any:
    return pyspiel.GameType(
        short_name=name,
        long_name=f"Zermelo {spec}",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.DETERMINISTIC,
        information=pyspiel.GameType.Information.PERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=2,
        min_num_players=2,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={},
    )


def _game_class(name: str, game: Game) -> type:
    info = pyspiel.GameInfo(
        num_distinct_actions=game.num_actions,
        max_chance_outcomes=0,
        num_players=2,
        min_utility=-1.0,
        max_utility=1.0,
        utility_sum=0.0,
        # Only a swap or a pass fills no cell, and no two passes are consecutive.
        max_game_length=2 * (game.grid.size if game.grid else WORD_BITS),
    )

    class RegisteredGame(pyspiel.Game):
        def __init__(self, params: Any = None) -> None:
            super().__init__(_game_type(name, game.spec), info, params or {})

        def new_initial_state(self, state: Any = None) -> "_State":
            del state
            return _State(self, game)

        def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> "_Observer":
            del iig_obs_type, params
            return _Observer(game)

    return RegisteredGame


class _State(pyspiel.State):
    def __init__(self, parent: Any, game: Game) -> None:
        super().__init__(parent)
        self.position = game.start()

    def current_player(self) -> Any:
        is_over = self.position.is_over
        return pyspiel.PlayerId.TERMINAL if is_over else self.position.player

    def _legal_actions(self, _player: int) -> list[int]:
        return self.position.actions

    def _apply_action(self, action: int) -> None:
        self.position = self.position.play_action(action)

    def _action_to_string(self, _player: int, action: int) -> str:
        return self.position.to_move_text(action)

    def is_terminal(self) -> bool:
        return self.position.is_over

    def returns(self) -> list[float]:
        outcome = self.position.outcome
        if outcome is None or outcome.winner is None:
            return [0.0, 0.0]
        return [1.0, -1.0] if outcome.winner == 0 else [-1.0, 1.0]

    def __str__(self) -> str:
        return str(self.position)


class _Observer:
    """Observes two planes: the stones of the observing player and those of the opponent."""

    def __init__(self, game: Game) -> None:
        size = game.grid.size if game.grid else 1
        self.tensor = np.zeros(2 * size, np.float32)
        self.dict = {"observation": self.tensor.reshape(2, size)}

    def set_from(self, state: Any, player: int) -> None:
        board = np.array(state.position.board or (0,))
        own = 1 if player == 0 else -1
        self.dict["observation"][:] = board == own, board == -own

    def string_from(self, state: Any, _player: int) -> str:
        position: Position = state.position
        return f"{position}\n{position.verdict}"
