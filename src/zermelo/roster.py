"""The roster: players by name, as text, imported when asked, so that nothing low imports high."""

import importlib
from dataclasses import dataclass

from zermelo import specs
from zermelo.errors import BadSpec
from zermelo.notation import shown
from zermelo.players import Player
from zermelo.specs import Parameter

HUMAN = "human"


@dataclass(frozen=True)
class Entry:
    """One name of the roster."""

    name: str
    summary: str
    factory: str  #: "module:function", called with the parameters
    parameters: tuple[Parameter, ...] = ()
    plain: str = ""  #: the parameter that a plain value gives, as in `lookahead:3`


_SEED = Parameter("seed", int, None, "the same seed gives the same moves")
_ENTRIES = {
    entry.name: entry
    for entry in (
        Entry(HUMAN, "you, at the keyboard", ""),
        Entry(
            "random",
            "every legal move with the same chance",
            "zermelo.players:RandomPlayer",
            (_SEED,),
        ),
        Entry(
            "greedy",
            "a win now, else the most open lines with two stones or more",
            "zermelo.search.greedy:GreedyPlayer",
            (_SEED,),
        ),
        Entry(
            "lookahead",
            "exact wins and losses within so many plies, else greedy",
            "zermelo.search.greedy:LookaheadPlayer",
            (Parameter("plies", int, 3, "how far it looks"), _SEED),
            plain="plies",
        ),
        Entry(
            "minimax",
            "alpha-beta to a depth, with the heuristic",
            "zermelo.search.alphabeta:minimax",
            (
                Parameter("depth", int, 4, "plies it looks ahead"),
                Parameter(
                    "heuristic", str, "fitted", "published: squava's", ("fitted", "published")
                ),
                _SEED,
            ),
            plain="depth",
        ),
        Entry(
            "alphabeta",
            "the same, deeper and deeper as long as there is time",
            "zermelo.search.alphabeta:alphabeta",
            (Parameter("seconds", float, 1.0, "a move"), _SEED),
            plain="seconds",
        ),
        Entry(
            "level",
            "errs at a set rate: 1 a beginner, 10 never",
            "zermelo.search.levels:LevelPlayer",
            (Parameter("level", int, 5, "1 to 10"), _SEED),
            plain="level",
        ),
        Entry(
            "perfect",
            "exact: the fastest win, the slowest loss; ties by chance",
            "zermelo.search.perfect:PerfectPlayer",
            (_SEED,),
        ),
    )
}


def player(spec: str) -> Player:
    """The player that a spec names, made anew.

    >>> player("random:seed=1").name
    'random:seed=1'
    """
    name, plain, keyed = specs.split(spec)
    if name not in _ENTRIES:
        specs.refuse("player", name, _ENTRIES)
    entry = _ENTRIES[name]
    if len(plain) > bool(entry.plain):
        msg = f"{shown(spec)}: {shown(','.join(plain))} says nothing here"
        raise BadSpec(msg)
    named = {entry.plain: plain[0]} if plain else {}
    given = specs.values(spec, named, keyed, entry.parameters)
    if not entry.factory:
        msg = f"{name} sits at a screen: start one with zermelo play"
        raise BadSpec(msg)
    module, _, factory = entry.factory.partition(":")
    made: Player = getattr(importlib.import_module(module), factory)(**given)
    return made


def check(spec: str) -> None:
    """BadSpec for a spec that names no player, human included."""
    if spec.strip() != HUMAN:
        player(spec)


def entries() -> list[Entry]:
    """All players."""
    return list(_ENTRIES.values())
