"""Zermelo: play, solve and learn two-player games of perfect information.

>>> import zermelo as z
>>> pos = z.game("connect4").start().play("4").play("4")
>>> pos.player, pos.legal
(0, ['1', '2', '3', '4', '5', '6', '7'])
>>> z.player("random:seed=1").choose(pos).move
'2'
"""

import importlib

TYPE_CHECKING = False  # true for type checkers; importing `typing` would be slow
if TYPE_CHECKING:
    from typing import Any

    from zermelo.arena.tournament import tournament
    from zermelo.core.bitboard import Word
    from zermelo.core.errors import (
        BadBoard,
        BadMove,
        BadRecord,
        BadSpec,
        IllegalMove,
        TooLarge,
        ZermeloError,
    )
    from zermelo.core.game import Game, SolverHooks, WordGame
    from zermelo.core.player import Analysis, Candidate, Limit, Player, Reason
    from zermelo.core.position import Outcome, Position
    from zermelo.core.value import Value
    from zermelo.games.registry import game
    from zermelo.grading.grade import Grade, grade
    from zermelo.learn.batch.custom_encoder import register_encoder
    from zermelo.learn.config.network import register_network
    from zermelo.learn.runs.training_loop import train
    from zermelo.matches.match import Match
    from zermelo.matches.match import Match as match  # noqa: N813 - z.match(game) reads as a sentence
    from zermelo.players.registry import load_player as player
    from zermelo.records import Record
    from zermelo.search.count import count
    from zermelo.search.explain.analysis import analyze
    from zermelo.search.explain.puzzles import Puzzle, puzzle
    from zermelo.search.explain.review import ReviewedMove, review
    from zermelo.search.solver.solution import Solution, solve

__version__ = "0.1.0"

# The module that defines each public name. Modules are imported on first use, so that
# `import zermelo` is fast.
_HOMES = {
    "zermelo.core.errors": (
        "BadBoard",
        "BadMove",
        "BadRecord",
        "BadSpec",
        "IllegalMove",
        "TooLarge",
        "ZermeloError",
    ),
    "zermelo.arena.tournament": ("tournament",),
    "zermelo.core.game": ("Game", "SolverHooks", "WordGame"),
    "zermelo.games.registry": ("game",),
    "zermelo.grading.grade": ("Grade", "grade"),
    "zermelo.learn.batch.custom_encoder": ("register_encoder",),
    "zermelo.learn.config.network": ("register_network",),
    "zermelo.learn.runs.training_loop": ("train",),
    "zermelo.matches.match": ("Match", "match"),
    "zermelo.core.player": ("Analysis", "Candidate", "Limit", "Player", "Reason"),
    "zermelo.core.position": ("Outcome", "Position"),
    "zermelo.core.value": ("Value",),
    "zermelo.records": ("Record",),
    "zermelo.players.registry": ("player",),
    "zermelo.search.explain.analysis": ("analyze",),
    "zermelo.search.explain.puzzles": ("Puzzle", "puzzle"),
    "zermelo.search.explain.review": ("ReviewedMove", "review"),
    "zermelo.search.count": ("count",),
    "zermelo.search.solver.solution": ("Solution", "solve"),
    "zermelo.core.bitboard": ("Word",),
}
_DEFINED_AS = {"match": "Match", "player": "load_player"}  # public name → name in its module
_MODULES = {name: module for module, names in _HOMES.items() for name in names}
__all__ = [  # noqa: RUF022 - errors last
    "Analysis", "Candidate", "Game", "Grade", "Limit", "Match", "Outcome", "Player", "Position",
    "Puzzle", "Reason", "Record", "ReviewedMove", "Solution", "SolverHooks", "Value", "Word",
    "WordGame", "analyze", "count", "game", "grade", "match", "player", "puzzle",
    "register_encoder", "register_network", "review", "solve", "tournament", "train",
    "BadBoard", "BadMove", "BadRecord", "BadSpec", "IllegalMove", "TooLarge", "ZermeloError",
]  # fmt: skip


def __getattr__(name: str) -> "Any":
    if name not in _MODULES:
        msg = f"module 'zermelo' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(importlib.import_module(_MODULES[name]), _DEFINED_AS.get(name, name))


def __dir__() -> list[str]:
    return sorted(__all__)
