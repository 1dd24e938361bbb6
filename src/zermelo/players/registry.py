"""The player registry: create players from specs such as `level:5` or `mcts:sims=800,seed=1`.

Player modules are imported when a player is created, so this module may name players from higher
layers (`zermelo.learn`, `zermelo.envs`) without importing them.
"""

import contextlib
import importlib
import inspect
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zermelo.core import specs
from zermelo.core.errors import BadSpec
from zermelo.core.notation import quote_text, show_value
from zermelo.core.player import Player
from zermelo.core.specs import Parameter
from zermelo.players.function_player import FunctionPlayer, MoveFunction
from zermelo.players.user_players import file_accepts_seed, is_player_file, load_player_file

HUMAN = "human"
PlayerLike = str | Player | MoveFunction  #: what functions accept as a player
_MAX_HEADER = 100 << 20  # maximum size of a model file's header, as in safetensors
_RUN_WEIGHTS = "final.safetensors"  # the weights file that a player loads from a run's folder


@dataclass(frozen=True)
class PlayerEntry:
    """The registry's description of one kind of player."""

    name: str
    summary: str
    factory: str  #: "module:function", called with the parameters
    parameters: tuple[Parameter, ...] = ()
    positional: str = ""  #: the parameter that a value without a key sets, as in `lookahead:3`
    is_stochastic: bool = False  #: whether the player is random by design, not only to break ties
    model_parameter: str = ""  #: the parameter that names a model, which may be a file
    model_prefix: str = ""  #: the text that precedes the model in that parameter
    is_blocking: bool = False  #: whether thinking blocks the interpreter, and with it a server
    example: str = ""  #: a spec that sets a parameter

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of the JSON output; `parameters` has only the defaults."""
        return specs.entry_fields(self.name, self.summary, self.parameters, self.example)

    def __repr__(self) -> str:
        """Return the name with its parameters, and the summary, in angle brackets."""
        return f"<player {specs.describe(self.name, self.parameters)}: {self.summary}>"

    @property
    def accepts_seed(self) -> bool:
        """Whether the player has a `seed` parameter, which makes its moves reproducible."""
        return any(parameter.name == "seed" for parameter in self.parameters)


_SEED = Parameter("seed", int, None, "random seed; the same seed gives the same moves")
_ENTRIES = {
    entry.name: entry
    for entry in (
        PlayerEntry(HUMAN, "you, at the keyboard", ""),
        PlayerEntry(
            "random",
            "chooses uniformly among the legal moves",
            "zermelo.players.random:RandomPlayer",
            (_SEED,),
            is_stochastic=True,
            example="random:seed=1",
        ),
        PlayerEntry(
            "greedy",
            "takes a win, else maximises open lines with two or more stones",
            "zermelo.players.greedy:GreedyPlayer",
            (_SEED,),
            example="greedy:seed=1",
        ),
        PlayerEntry(
            "lookahead",
            "finds wins and losses within a number of plies, else greedy",
            "zermelo.players.lookahead:LookaheadPlayer",
            (Parameter("plies", int, 3, "search depth in plies"), _SEED),
            positional="plies",
            example="lookahead:3",
        ),
        PlayerEntry(
            "minimax",
            "alpha-beta to a fixed depth, with the heuristic evaluation",
            "zermelo.players.alphabeta:minimax",
            (
                Parameter("depth", int, 4, "search depth in plies"),
                Parameter(
                    "heuristic",
                    str,
                    "fitted",
                    "the published ones are for squava only",
                    ("fitted", "published", "published-no-centre"),
                ),
                _SEED,
            ),
            positional="depth",
            example="minimax:depth=6",
        ),
        PlayerEntry(
            "alphabeta",
            "iterative deepening alpha-beta within a time limit",
            "zermelo.players.alphabeta:alphabeta",
            (Parameter("seconds", float, 1.0, "time per move"), _SEED),
            positional="seconds",
            example="alphabeta:seconds=2",
        ),
        PlayerEntry(
            "level",
            "makes mistakes at a set rate, from 1 (beginner) to 10 (none)",
            "zermelo.players.levels:LevelPlayer",
            (Parameter("level", int, 5, "from 1 (beginner) to 10 (no mistakes)"), _SEED),
            positional="level",
            is_stochastic=True,
            example="level:3",
        ),
        PlayerEntry(
            "perfect",
            "plays perfectly: fastest win, slowest loss; breaks ties at random",
            "zermelo.players.perfect:PerfectPlayer",
            (_SEED,),
            example="perfect:seed=1",
        ),
        PlayerEntry(
            "mcts",
            "Monte Carlo tree search, with random playouts or an evaluator",
            "zermelo.players.mcts:MCTSPlayer",
            (
                Parameter("sims", int, None, "simulations; default: 1000 unless a time is given"),
                Parameter("seconds", float, None, "time per move"),
                Parameter("c", float, None, "exploration; default: 1, or 1.5 with an evaluator"),
                Parameter("evaluator", str, "", "heuristic or dqn:RUN, instead of playouts"),
                Parameter("batch", int, None, "leaves per call of the evaluator; default: 16"),
                Parameter("solver", bool, default=True, note="back up proven values"),
                Parameter("reuse", bool, default=True, note="keep the tree between moves"),
                _SEED,
            ),
            positional="sims",
            is_stochastic=True,
            model_parameter="evaluator",
            model_prefix="dqn:",
            example="mcts:sims=800,seed=1",
        ),
        PlayerEntry(
            "dqn",
            "plays the best move of a trained Q-network, without search",
            "zermelo.learn.dqn.player:DQNPlayer",
            (
                Parameter("run", str, "", "run folder, file or shipped model; default: the game's"),
                Parameter("shell", bool, default=False, note="play wins and blocks by rule"),
            ),
            positional="run",
            model_parameter="run",
            example="dqn:tictactoe-dqn",
        ),
        PlayerEntry(
            "hybrid",
            "alpha-beta with a learned evaluation",
            "zermelo.learn.hybrid.player:HybridPlayer",
            (
                Parameter("run", str, "", "run folder, file or shipped model; default: the game's"),
                Parameter("depth", int, None, "search depth in plies; default: as trained"),
                Parameter("seconds", float, None, "time per move, with iterative deepening"),
                Parameter("blend", float, None, "network's weight, 0 to 1; default: as trained"),
            ),
            positional="run",
            model_parameter="run",
            example="hybrid:squava-hybrid,depth=4",
        ),
        PlayerEntry(
            "alphazero",
            "tree search with a learned policy and value",
            "zermelo.learn.alphazero.player:AlphaZeroPlayer",
            (
                Parameter("run", str, "", "run folder, file or shipped model; default: the game's"),
                Parameter("sims", int, None, "simulations (0: policy only); default: as trained"),
            ),
            positional="run",
            model_parameter="run",
            example="alphazero:connect4-alphazero,sims=64",
        ),
        PlayerEntry(
            "openspiel",
            "an OpenSpiel bot; OpenSpiel must be installed",
            "zermelo.envs.open_spiel_players:OpenSpielPlayer",
            (
                Parameter("bot", str, "mcts", "name of the bot", ("mcts", "random")),
                Parameter("sims", int, 1000, "mcts: simulations per move"),
                Parameter("seconds", float, None, "mcts: time limit per move"),
                Parameter("c", float, 2.0, "mcts: exploration constant"),
                Parameter("solver", bool, default=True, note="mcts: back up proven values"),
                _SEED,
            ),
            positional="bot",
            is_stochastic=True,
            is_blocking=True,
            example="openspiel:mcts,sims=800",
        ),
    )
}


def load_player(spec: str) -> Player:
    """Create the player that a spec names.

    A spec may name a file, which is loaded and run: use `load_builtin_player` for specs that
    cannot be trusted.

    >>> load_player("random:seed=1").name
    'random:seed=1'
    """
    return load_player_file(spec) if is_player_file(spec) else _create(*_parse(spec))


def as_player(player: PlayerLike) -> Player:
    """Return a player from a spec, a `Player`, or a function from a position to a move.

    A spec that names a file loads and runs that file. Raise BadSpec for anything else.

    >>> as_player("random:seed=1").name, as_player(lambda position: position.legal[0]).name
    ('random:seed=1', '<lambda>')
    """
    if isinstance(player, Player):
        if not isinstance(getattr(player, "name", None), str):
            player.name = type(player).__name__
        return player
    if isinstance(player, str):
        return load_player(player)
    if isinstance(player, type) and issubclass(player, Player):
        msg = f"{player.__name__} is a class: give a player, such as {player.__name__}()"
        raise BadSpec(msg)
    if isinstance(player, type) or not callable(player):
        msg = (
            f"a player is a spec such as 'perfect', a zermelo.Player, or a function from a "
            f"position to a move, not {show_value(player)}"
        )
        raise BadSpec(msg)
    _check_arguments(player)
    return FunctionPlayer(player)


def _check_arguments(function: MoveFunction) -> None:
    """Raise BadSpec if a function cannot be called with a position as its only argument."""
    try:
        inspect.signature(function).bind(None)
    except TypeError as error:
        name = getattr(function, "__name__", type(function).__name__)
        msg = f"{name} cannot play: a function that plays takes one argument, a position: {error}"
        raise BadSpec(msg) from None
    except ValueError:  # a function without a signature, as in some C extensions
        return


def load_builtin_player(spec: str) -> Player:
    """Create a registered player, with shipped models only; safe for specs from the network."""
    entry, values = _parse(spec)
    if entry.is_blocking:
        msg = f"{entry.name} can play only on the command line and in the arena"
        raise BadSpec(msg)
    value = values[entry.model_parameter] if entry.model_parameter else ""
    if value and (":" in value or not entry.model_prefix):  # otherwise the value names no model
        names = [entry.model_prefix + name for name in _shipped_models()]
        if value not in names:
            known = ", ".join(names) or "none yet"
            msg = (
                f"{quote_text(spec)}: {entry.model_parameter} must name a model that comes with "
                f"zermelo: {known}"
            )
            raise BadSpec(msg)
    return _create(entry, values)


def _shipped_models() -> list[str]:
    names: list[str] = importlib.import_module("zermelo.learn.models.files").shipped_model_names()
    return names


def _parse(spec: str) -> tuple[PlayerEntry, dict[str, Any]]:
    """Return the entry that a spec names and the value of every parameter."""
    name, plain, keyed = specs.split_spec(spec)
    entry = _find_entry(name)
    if len(plain) > bool(entry.positional):
        known = ", ".join(f"{parameter.name}=…" for parameter in entry.parameters)
        usage = f"{name} takes {known}" if known else f"{name} takes no parameters"
        msg = f"{quote_text(spec)}: {quote_text(','.join(plain))} has no meaning here; {usage}"
        raise BadSpec(msg)
    named = {entry.positional: plain[0]} if plain else {}
    return entry, specs.parse_parameters(spec, named, keyed, entry.parameters)


def _create(entry: PlayerEntry, values: dict[str, Any]) -> Player:
    if not entry.factory:
        msg = f"{entry.name} needs a screen, such as that of the command zermelo play"
        raise BadSpec(msg)
    module, _, factory = entry.factory.partition(":")
    player: Player = getattr(importlib.import_module(module), factory)(**values)
    return player


def accepts_seed(spec: str) -> bool:
    """Return whether the player that a spec names takes a seed and the spec does not set one."""
    if is_player_file(spec):
        return file_accepts_seed(spec)
    name, _, keyed = specs.split_spec(spec)
    return "seed" not in keyed and _find_entry(name).accepts_seed


def with_seed(spec: str, seed: int) -> str:
    """Add a seed to a spec if its player takes a seed and the spec does not set one.

    >>> with_seed("level:3", 7), with_seed("random:seed=1", 7), with_seed("human", 7)
    ('level:3,seed=7', 'random:seed=1', 'human')
    """
    if not accepts_seed(spec):
        return spec
    spec = spec.strip().removesuffix(":")
    has_values = ":" in spec.rpartition(".py")[2]
    return f"{spec}{',' if has_values else ':'}seed={seed}"


def is_stochastic(spec: str) -> bool:
    """Return whether a player is random by design and the spec sets no seed.

    A player from a file counts as random if it takes a seed.
    """
    if is_player_file(spec):
        return accepts_seed(spec)
    entry, values = _parse(spec)
    # With an evaluator there are no random playouts.
    return accepts_seed(spec) and entry.is_stochastic and not values.get("evaluator")


def model_files(spec: str) -> list[Path]:
    """Return the model files that a player reads, except those that come with the package."""
    if is_player_file(spec):
        return []
    entry, values = _parse(spec)
    if not entry.model_parameter:
        return []
    value = str(values[entry.model_parameter]).removeprefix(entry.model_prefix)
    paths = [Path(value) / _RUN_WEIGHTS, Path(value)] if value else []
    return [path for path in paths if path.is_file()]


def runs_user_code(spec: str) -> bool:
    """Return whether a player runs user code: its own file, or that of its network or encoder."""
    if is_player_file(spec):
        return True
    with contextlib.suppress(BadSpec):
        return any(map(_names_user_code, model_files(spec)))
    return False


def _names_user_code(path: Path) -> bool:
    """Return whether the metadata of a model file names the source of its network's code."""
    try:
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(size)) if size < _MAX_HEADER else {}
        return any('"sources":' in text for text in header.get("__metadata__", {}).values())
    except (OSError, ValueError, AttributeError, TypeError):
        return False  # a damaged file, which no player loads


def _find_entry(name: str) -> PlayerEntry:
    if name not in _ENTRIES:
        specs.raise_unknown("player", name, _ENTRIES)
    return _ENTRIES[name]


def list_players() -> list[PlayerEntry]:
    """Return the entries of all registered players.

    >>> [entry.name for entry in list_players()][:3]
    ['human', 'random', 'greedy']
    """
    return list(_ENTRIES.values())
