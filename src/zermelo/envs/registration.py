"""The names under which Gymnasium knows our games: `gymnasium.make("Zermelo/ConnectFour-v0")`.

Gymnasium 1.0 has no plugins any more: its users import the package that registers a name, or name
that package, as in `gymnasium.make("zermelo.envs:Zermelo/ConnectFour-v0")`.
"""

import importlib.util

#: name in Gymnasium → spec of the game
NAMES = {
    "Zermelo/TicTacToe-v0": "tictactoe",
    "Zermelo/ConnectFour-v0": "connect4",
    "Zermelo/Gomoku6-v0": "gomoku6",
    "Zermelo/Squava-v0": "squava",
    "Zermelo/Reversi-v0": "reversi",
    "Zermelo/Gomoku-v0": "gomoku",
}


def register_environments() -> None:
    """Register all names that are not yet registered; do nothing without Gymnasium."""
    if importlib.util.find_spec("gymnasium") is None:
        return
    import gymnasium

    for name, spec in NAMES.items():
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point="zermelo.envs.gymnasium_env:GameEnv",
                vector_entry_point="zermelo.envs.gymnasium_vector_env:GameVectorEnv",
                kwargs={"spec": spec, "opponent": "random"},
            )
