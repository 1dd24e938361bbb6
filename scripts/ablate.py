"""What each part of AlphaZero brings: short runs of a recipe, each with one part changed.

Every run has the same number of updates and seed; mistakes are counted over a file of positions,
as `zermelo positions` writes it, by the final weights. The lines are those of a table in Markdown.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from zermelo.core.game import WordGame
from zermelo.games import registry
from zermelo.learn.alphazero.player import AlphaZeroPlayer
from zermelo.learn.alphazero.search_cpu import KernelSearch
from zermelo.learn.alphazero.search_options import NEVER
from zermelo.learn.batch import evaluation_sets
from zermelo.learn.batch.evaluation_sets import EvaluationSet
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.config import recipes
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.config.selfplay import SelfPlayConfig
from zermelo.learn.networks.numpy_inference import planes_of
from zermelo.learn.runs import training

CHANGES: dict[str, dict[str, Any]] = {
    "as it is": {},
    "PUCT in place of Gumbel": {"selfplay": {"rule": "puct"}},
    "16 simulations throughout": {"selfplay": {"simulations": [16]}},
    "half of the plies capped": {"selfplay": {"capped": 0.5}},
    "no random starts": {"selfplay": {"starts": 0.0}},
    "no moves by lot": {"selfplay": {"curious": 0.0}},
    "values by the end of games alone": {"selfplay": {"mixed": 1.0}},
    "values by the next search alone": {"selfplay": {"mixed": 0.0}},
    "no symmetries": {"learning": {"canonical": False}},
    "no average of weights": {"learning": {"average": 0.0}},
    "a window of three chunks": {"replay": {"size": 20_000}},
    "cells alone, no lines": {"encoder": "cells"},
    "full layers, no tower": {"network": {"kind": "dense", "channels": [], "hidden": [384] * 5}},
}
_ROWS = 500  # positions that are searched at once


def changed(recipe: Recipe, changes: dict[str, Any], updates: int) -> Recipe:
    """The same, but for what is changed, in so many updates."""
    length = {"learning": {"updates": updates}, "keeping": {"checkpoint": updates}}
    found = json.loads(json.dumps(recipe.to_json()))
    for part in (length, changes):
        for name, value in part.items():
            found[name] = found[name] | value if isinstance(value, dict) else value
    return recipes.from_json(found)


def marked(game: WordGame, run: Path, exam: EvaluationSet, playing: SelfPlayConfig) -> tuple[float, float]:
    """The shares of mistakes: with search, and of the policy alone."""
    net = AlphaZeroPlayer(str(run)).prepare(game)
    number = playing.play_simulations
    search = KernelSearch(game, net, _ROWS, number, considered=playing.considered)
    legal, moves, choices = GameBatch(game), [], []
    for begin in range(0, len(exam.states), _ROWS):
        states = np.ascontiguousarray(exam.states[begin : begin + _ROWS])
        moves.append(search(states).actions)
        logits, _values = net(planes_of(game, states))
        choices.append(np.where(legal.legal_masks(states), logits, NEVER).argmax(1))
    return exam.mistake_rate(np.concatenate(moves)), exam.mistake_rate(np.concatenate(choices))


def main() -> None:
    """Train, mark, tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("positions", type=Path)
    parser.add_argument("--recipe", default="gomoku6-alphazero")
    parser.add_argument("--updates", type=int, default=2400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--actors", type=int, default=2)
    parser.add_argument("--short", action="store_true", help="trials of the recipe")
    parser.add_argument("--only", action="append", help="a change by its name", choices=CHANGES)
    asked = parser.parse_args()
    recipe = recipes.load(asked.recipe, short=asked.short)
    game = registry.game(recipe.game)
    assert isinstance(game, WordGame)
    ((_name, exam),) = evaluation_sets.load_evaluation_sets(game, [asked.positions])
    print("| | with search | the policy alone | seconds |\n|---|---|---|---|", flush=True)
    for name in asked.only or CHANGES:
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            run = Path(folder) / "run"
            training.train(
                changed(recipe, CHANGES[name], asked.updates),
                run,
                seed=asked.seed,
                actors=asked.actors,
                grade=False,
            )
            spent = time.monotonic() - began
            searched, policy = marked(game, run, exam, recipe.selfplay)
        print(f"| {name} | {searched:.2%} | {policy:.2%} | {spent:.0f} |", flush=True)


if __name__ == "__main__":
    main()
