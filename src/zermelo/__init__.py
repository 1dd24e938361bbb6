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
    from zermelo.arena.tournament import Interrupted, Result, tournament
    from zermelo.core.bitboard import Word
    from zermelo.core.errors import (
        BadBoard,
        BadMove,
        BadRecord,
        BadSpec,
        IllegalMove,
        KernelError,
        MissingPackage,
        TooLarge,
        ZermeloError,
    )
    from zermelo.core.game import Game, SolverHooks, WordGame
    from zermelo.core.player import Analysis, Candidate, Limit, Player, Reason
    from zermelo.core.position import Outcome, Position
    from zermelo.core.value import Value
    from zermelo.games.descriptions import RulesText
    from zermelo.games.descriptions import describe_rules as rules
    from zermelo.games.registry import GameEntry
    from zermelo.games.registry import as_game as game
    from zermelo.games.registry import list_games as games
    from zermelo.grading.grade import Grade, grade
    from zermelo.grading.position_sets import BadPositionSet
    from zermelo.learn.batch.custom_encoder import register_encoder
    from zermelo.learn.batch.game_batch import GameBatch
    from zermelo.learn.config.network import register_network
    from zermelo.learn.config.recipe import Recipe
    from zermelo.learn.config.recipes import list_recipes as recipes
    from zermelo.learn.config.reports import TrainingDiverged
    from zermelo.learn.config.validation import BadRecipe
    from zermelo.learn.inference import Evaluations, Model
    from zermelo.learn.inference import load_model as model
    from zermelo.learn.networks.weights_file import BadWeights
    from zermelo.learn.runs.lock import RunLocked
    from zermelo.learn.runs.run_folder import BadRun, Run
    from zermelo.learn.runs.training_loop import train
    from zermelo.matches.match import Match
    from zermelo.matches.match import Match as match  # noqa: N813 - z.match(game) reads as a sentence
    from zermelo.players.registry import PlayerEntry
    from zermelo.players.registry import as_player as player
    from zermelo.players.registry import list_players as players
    from zermelo.records import Record
    from zermelo.search.count import Counts, count
    from zermelo.search.explain.analysis import analyze
    from zermelo.search.explain.analysis_batch import analyze_many
    from zermelo.search.explain.puzzles import NoPuzzle, Puzzle, puzzle
    from zermelo.search.explain.review import ReviewedMove, review
    from zermelo.search.negamax.searcher import Unsolved
    from zermelo.search.solver.solution import Solution, solve
    from zermelo.search.solver.solution_batch import solve_many
    from zermelo.search.tablebase.files import BadTablebase
    from zermelo.store.connection import BadStore, StoreFailure

__version__ = "0.1.0"

# The module that defines each public name. Modules are imported on first use, so that
# `import zermelo` is fast.
_HOMES = {
    "zermelo.arena.tournament": ("Interrupted", "Result", "tournament"),
    "zermelo.core.bitboard": ("Word",),
    "zermelo.core.errors": (
        "BadBoard",
        "BadMove",
        "BadRecord",
        "BadSpec",
        "IllegalMove",
        "KernelError",
        "MissingPackage",
        "TooLarge",
        "ZermeloError",
    ),
    "zermelo.core.game": ("Game", "SolverHooks", "WordGame"),
    "zermelo.core.player": ("Analysis", "Candidate", "Limit", "Player", "Reason"),
    "zermelo.core.position": ("Outcome", "Position"),
    "zermelo.core.value": ("Value",),
    "zermelo.games.descriptions": ("RulesText", "rules"),
    "zermelo.games.registry": ("GameEntry", "game", "games"),
    "zermelo.grading.grade": ("Grade", "grade"),
    "zermelo.grading.position_sets": ("BadPositionSet",),
    "zermelo.learn.batch.custom_encoder": ("register_encoder",),
    "zermelo.learn.batch.game_batch": ("GameBatch",),
    "zermelo.learn.config.network": ("register_network",),
    "zermelo.learn.config.recipe": ("Recipe",),
    "zermelo.learn.config.recipes": ("recipes",),
    "zermelo.learn.config.reports": ("TrainingDiverged",),
    "zermelo.learn.config.validation": ("BadRecipe",),
    "zermelo.learn.inference": ("Evaluations", "Model", "model"),
    "zermelo.learn.networks.weights_file": ("BadWeights",),
    "zermelo.learn.runs.lock": ("RunLocked",),
    "zermelo.learn.runs.run_folder": ("BadRun", "Run"),
    "zermelo.learn.runs.training_loop": ("train",),
    "zermelo.matches.match": ("Match", "match"),
    "zermelo.players.registry": ("PlayerEntry", "player", "players"),
    "zermelo.records": ("Record",),
    "zermelo.search.count": ("Counts", "count"),
    "zermelo.search.explain.analysis": ("analyze",),
    "zermelo.search.explain.analysis_batch": ("analyze_many",),
    "zermelo.search.explain.puzzles": ("NoPuzzle", "Puzzle", "puzzle"),
    "zermelo.search.explain.review": ("ReviewedMove", "review"),
    "zermelo.search.negamax.searcher": ("Unsolved",),
    "zermelo.search.solver.solution": ("Solution", "solve"),
    "zermelo.search.solver.solution_batch": ("solve_many",),
    "zermelo.search.tablebase.files": ("BadTablebase",),
    "zermelo.store.connection": ("BadStore", "StoreFailure"),
}
# Public name → name in its module. `games` and `players` are also packages, which can be called.
_DEFINED_AS = {
    "game": "as_game",
    "games": "list_games",
    "recipes": "list_recipes",
    "match": "Match",
    "model": "load_model",
    "player": "as_player",
    "players": "list_players",
    "rules": "describe_rules",
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names}
__all__ = [  # noqa: RUF022 - errors last
    "Analysis", "Candidate", "Counts", "Evaluations", "Game", "GameBatch", "GameEntry", "Grade",
    "Limit", "Match", "Model", "Outcome", "Player", "PlayerEntry", "Position", "Puzzle", "Reason",
    "Recipe", "Record", "Result", "ReviewedMove", "RulesText", "Run", "Solution", "SolverHooks",
    "Value", "Word", "WordGame", "analyze", "analyze_many", "count", "game", "games", "grade",
    "match", "model", "player", "players", "puzzle", "recipes", "register_encoder",
    "register_network", "review", "rules", "solve", "solve_many", "tournament", "train",
    "BadBoard", "BadMove", "BadPositionSet", "BadRecipe", "BadRecord", "BadRun", "BadSpec",
    "BadStore", "BadTablebase", "BadWeights", "IllegalMove", "Interrupted", "KernelError",
    "MissingPackage", "NoPuzzle", "RunLocked", "StoreFailure", "TooLarge", "TrainingDiverged",
    "Unsolved", "ZermeloError",
]  # fmt: skip


if not TYPE_CHECKING:  # type checkers would accept every name

    def __getattr__(name):  # noqa: ANN001, ANN202
        if name not in _MODULES:
            msg = f"module 'zermelo' has no attribute {name!r}"
            raise AttributeError(msg)
        try:
            module = importlib.import_module(_MODULES[name])
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            from zermelo.core.errors import MissingPackage

            msg = f"zermelo.{name} needs torch: pip install 'zermelo[learn]'"
            raise MissingPackage(msg) from None
        return getattr(module, _DEFINED_AS.get(name, name))


def __dir__() -> list[str]:
    return sorted(__all__)
