"""The roster: players by name, as text, imported when asked, so that nothing low imports high."""

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zermelo.core import specs
from zermelo.core.errors import BadSpec
from zermelo.core.notation import shown
from zermelo.core.player import Player
from zermelo.core.specs import Parameter
from zermelo.players import files as player_files

HUMAN = "human"
_FINAL = "final.safetensors"  # what plays, in a run's folder


@dataclass(frozen=True)
class Entry:
    """One name of the roster."""

    name: str
    summary: str
    factory: str  #: "module:function", called with the parameters
    parameters: tuple[Parameter, ...] = ()
    plain: str = ""  #: the parameter that a plain value gives, as in `lookahead:3`
    drawn: bool = False  #: it draws its moves by design, and not only among equals
    opens: str = ""  #: the parameter that names a model, which may be a file …
    prefix: str = ""  #: … after this
    alone: bool = False  #: nothing else runs while it thinks: not for a server

    @property
    def takes_seed(self) -> bool:
        """Whether the same seed gives the same moves."""
        return any(parameter.name == "seed" for parameter in self.parameters)


_SEED = Parameter("seed", int, None, "the same seed gives the same moves")
_ENTRIES = {
    entry.name: entry
    for entry in (
        Entry(HUMAN, "you, at the keyboard", ""),
        Entry(
            "random",
            "every legal move with the same chance",
            "zermelo.players.random:RandomPlayer",
            (_SEED,),
            drawn=True,
        ),
        Entry(
            "greedy",
            "a win now, else the most open lines with two stones or more",
            "zermelo.players.greedy:GreedyPlayer",
            (_SEED,),
        ),
        Entry(
            "lookahead",
            "exact wins and losses within so many plies, else greedy",
            "zermelo.players.greedy:LookaheadPlayer",
            (Parameter("plies", int, 3, "how far it looks"), _SEED),
            plain="plies",
        ),
        Entry(
            "minimax",
            "alpha-beta to a depth, with the heuristic",
            "zermelo.players.alphabeta:minimax",
            (
                Parameter("depth", int, 4, "plies it looks ahead"),
                Parameter(
                    "heuristic",
                    str,
                    "fitted",
                    "published: squava's",
                    ("fitted", "published", "published-no-centre"),
                ),
                _SEED,
            ),
            plain="depth",
        ),
        Entry(
            "alphabeta",
            "the same, deeper and deeper as long as there is time",
            "zermelo.players.alphabeta:alphabeta",
            (Parameter("seconds", float, 1.0, "a move"), _SEED),
            plain="seconds",
        ),
        Entry(
            "level",
            "errs at a set rate: 1 a beginner, 10 never",
            "zermelo.players.levels:LevelPlayer",
            (Parameter("level", int, 5, "1 to 10"), _SEED),
            plain="level",
            drawn=True,
        ),
        Entry(
            "perfect",
            "exact: the fastest win, the slowest loss; ties by chance",
            "zermelo.players.perfect:PerfectPlayer",
            (_SEED,),
        ),
        Entry(
            "mcts",
            "Monte Carlo tree search, by random games or an evaluator",
            "zermelo.players.mcts:MCTSPlayer",
            (
                Parameter("sims", int, None, "simulations a move; 1000 if there is no time either"),
                Parameter("seconds", float, None, "a move"),
                Parameter("c", float, None, "how much uncertainty counts; 1, by an evaluator 1.5"),
                Parameter("evaluator", str, "", "heuristic or dqn:RUN, not random games"),
                Parameter("batch", int, None, "leaves for an evaluator at once; 16"),
                Parameter("solver", bool, default=True, note="keep what is proven"),
                Parameter("reuse", bool, default=True, note="keep the tree from move to move"),
                _SEED,
            ),
            plain="sims",
            drawn=True,
            opens="evaluator",
            prefix="dqn:",
        ),
        Entry(
            "dqn",
            "what was learned in a training: its best move, at once",
            "zermelo.learn.dqn.player:DQNPlayer",
            (
                Parameter("run", str, "", "a folder, a file or a shipped model; that of the game"),
                Parameter("shell", bool, default=False, note="wins and blocks by rule first"),
            ),
            plain="run",
            opens="run",
        ),
        Entry(
            "hybrid",
            "alpha-beta to a depth or for a time, with a learned value",
            "zermelo.learn.hybrid.player:HybridPlayer",
            (
                Parameter("run", str, "", "a folder, a file or a shipped model; that of the game"),
                Parameter("depth", int, None, "plies it looks ahead; as trained"),
                Parameter("seconds", float, None, "a move, then as deep as there is time"),
                Parameter("blend", float, None, "the network's share, 0 to 1; as trained"),
            ),
            plain="run",
            opens="run",
        ),
        Entry(
            "alphazero",
            "a tree search by a learned policy and value",
            "zermelo.learn.alphazero.player:AlphaZeroPlayer",
            (
                Parameter("run", str, "", "a folder, a file or a shipped model; that of the game"),
                Parameter("sims", int, None, "simulations a move, 0 the policy alone; as trained"),
            ),
            plain="run",
            opens="run",
        ),
        Entry(
            "openspiel",
            "a bot of OpenSpiel's, which must be installed",
            "zermelo.envs.open_spiel_players:OpenSpielPlayer",
            (
                Parameter("bot", str, "mcts", "its kind", ("mcts", "random")),
                Parameter("sims", int, 1000, "of mcts: simulations a move"),
                Parameter("seconds", float, None, "of mcts: a move, at most"),
                Parameter("c", float, 2.0, "of mcts: how much uncertainty counts"),
                Parameter("solver", bool, default=True, note="of mcts: keep what is proven"),
                _SEED,
            ),
            plain="bot",
            drawn=True,
            alone=True,
        ),
    )
}


def player(spec: str) -> Player:
    """The player that a spec names, made anew.

    A file is loaded and run: for what comes from elsewhere use `named_player`.

    >>> player("random:seed=1").name
    'random:seed=1'
    """
    return player_files.player(spec) if player_files.is_file(spec) else _made(*_parsed(spec))


def named_player(spec: str) -> Player:
    """The same for names only, models included: safe for what arrives by network."""
    entry, given = _parsed(spec)
    if entry.alone:
        msg = f"{entry.name} plays at the command line and in the arena only"
        raise BadSpec(msg)
    value = given[entry.opens] if entry.opens else ""
    if value and (":" in value or not entry.prefix):  # else a name that opens nothing
        names = [entry.prefix + name for name in _model_names()]
        if value not in names:
            there = ", ".join(names) or "none yet"
            msg = f"{shown(spec)}: {entry.opens} names a model that comes with zermelo: {there}"
            raise BadSpec(msg)
    return _made(entry, given)


def _model_names() -> list[str]:
    """What may be named where no file may be opened."""
    names: list[str] = importlib.import_module("zermelo.learn.models.model").shipped_names()
    return names


def _parsed(spec: str) -> tuple[Entry, dict[str, Any]]:
    """Who is meant, and every parameter's value."""
    name, plain, keyed = specs.split(spec)
    entry = _entry(name)
    if len(plain) > bool(entry.plain):
        msg = f"{shown(spec)}: {shown(','.join(plain))} says nothing here"
        raise BadSpec(msg)
    named = {entry.plain: plain[0]} if plain else {}
    return entry, specs.values(spec, named, keyed, entry.parameters)


def _made(entry: Entry, given: dict[str, Any]) -> Player:
    if not entry.factory:
        msg = f"{entry.name} sits at a screen: start one with zermelo play"
        raise BadSpec(msg)
    module, _, factory = entry.factory.partition(":")
    made: Player = getattr(importlib.import_module(module), factory)(**given)
    return made


def check(spec: str) -> None:
    """BadSpec for a spec that names no player, human included."""
    if spec.strip() != HUMAN:
        player(spec)


def takes_seed(spec: str) -> bool:
    """Whether a seed would decide the player's moves, and the spec gives none."""
    if player_files.is_file(spec):
        return player_files.takes_seed(spec)
    name, _, keyed = specs.split(spec)
    return "seed" not in keyed and _entry(name).takes_seed


def seeded(spec: str, seed: int) -> str:
    """A spec with this seed, where its player takes one and it gives none.

    >>> seeded("level:3", 7), seeded("random:seed=1", 7), seeded("human", 7)
    ('level:3,seed=7', 'random:seed=1', 'human')
    """
    if not takes_seed(spec):
        return spec
    spec = spec.strip().removesuffix(":")
    has_values = ":" in spec.rpartition(".py")[2]
    return f"{spec}{',' if has_values else ':'}seed={seed}"


def is_drawn(spec: str) -> bool:
    """Whether a player draws its moves by design: in a file, one that takes a seed does."""
    if player_files.is_file(spec):
        return takes_seed(spec)
    entry, given = _parsed(spec)
    # With an evaluator no games are drawn by lot.
    return takes_seed(spec) and entry.drawn and not given.get("evaluator")


def opened(spec: str) -> list[Path]:
    """The model files that a player opens, where they are not shipped."""
    if player_files.is_file(spec):
        return []
    entry, given = _parsed(spec)
    value = str(given[entry.opens]).removeprefix(entry.prefix) if entry.opens else ""
    path = Path(value)
    found = [path / _FINAL, path] if value else []
    return [file for file in found if file.is_file()]


def _entry(name: str) -> Entry:
    if name not in _ENTRIES:
        specs.refuse("player", name, _ENTRIES)
    return _ENTRIES[name]


def entries() -> list[Entry]:
    """All players."""
    return list(_ENTRIES.values())
