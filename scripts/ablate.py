"""Run an ablation study of AlphaZero: short runs of a recipe, each with one part changed.

All runs have the same number of updates and the same seed. The final weights are graded on a file
of labelled positions written by `zermelo positions`. The script prints a table in Markdown.
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
from zermelo.learn.alphazero.search_parameters import ILLEGAL_LOGIT
from zermelo.learn.batch import evaluation_sets
from zermelo.learn.batch.evaluation_sets import EvaluationSet
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.config import recipes
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.config.selfplay import SelfPlayConfig
from zermelo.learn.networks.numpy_inference import encode_planes
from zermelo.learn.runs import training_loop

CHANGES: dict[str, dict[str, Any]] = {
    "unchanged": {},
    "PUCT instead of Gumbel": {"selfplay": {"rule": "puct"}},
    "16 simulations throughout": {"selfplay": {"simulations": [16]}},
    "half of the plies capped": {"selfplay": {"capped": 0.5}},
    "no random starts": {"selfplay": {"starts": 0.0}},
    "no random moves": {"selfplay": {"curious": 0.0}},
    "value targets by results only": {"selfplay": {"mixed": 1.0}},
    "value targets by the next search only": {"selfplay": {"mixed": 0.0}},
    "no symmetries": {"learning": {"canonical": False}},
    "no averaged weights": {"learning": {"average": 0.0}},
    "a replay of three rollouts": {"replay": {"size": 20_000}},
    "cells only, no lines": {"encoder": "cells"},
    "fully connected, no tower": {
        "network": {"kind": "dense", "channels": [], "hidden": [384] * 5}
    },
}
_BATCH = 500  # positions searched at a time


def change_recipe(recipe: Recipe, changes: dict[str, Any], updates: int) -> Recipe:
    """Return the recipe with `changes` applied and its number of updates set to `updates`."""
    length = {"learning": {"updates": updates}, "keeping": {"checkpoint": updates}}
    table = json.loads(json.dumps(recipe.to_dict()))
    for part in (length, changes):
        for name, value in part.items():
            table[name] = table[name] | value if isinstance(value, dict) else value
    return recipes.from_dict(table)


def grade(
    game: WordGame, run: Path, evaluation_set: EvaluationSet, config: SelfPlayConfig
) -> tuple[float, float]:
    """Return the mistake rate with search, and that of the policy alone."""
    evaluate = AlphaZeroPlayer(str(run)).prepare(game)
    simulations, considered = config.play_simulations, config.considered
    search = KernelSearch(game, evaluate, _BATCH, simulations, considered=considered)
    game_batch = GameBatch(game)
    search_actions, policy_actions = [], []
    for begin in range(0, len(evaluation_set.states), _BATCH):
        states = np.ascontiguousarray(evaluation_set.states[begin : begin + _BATCH])
        search_actions.append(search(states).actions)
        logits, _values = evaluate(encode_planes(game, states))
        legal_logits = np.where(game_batch.legal_masks(states), logits, ILLEGAL_LOGIT)
        policy_actions.append(legal_logits.argmax(1))
    return (
        evaluation_set.mistake_rate(np.concatenate(search_actions)),
        evaluation_set.mistake_rate(np.concatenate(policy_actions)),
    )


def main() -> None:
    """Train and grade a network for each change, and print its row of the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("positions", type=Path, help="file of labelled positions")
    parser.add_argument("--recipe", default="gomoku6-alphazero")
    parser.add_argument("--updates", type=int, default=2400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--actors", type=int, default=2)
    parser.add_argument("--short", action="store_true", help="use the short form of the recipe")
    parser.add_argument(
        "--only", action="append", help="name of a change; may be repeated", choices=CHANGES
    )
    arguments = parser.parse_args()
    recipe = recipes.load(arguments.recipe, short=arguments.short)
    game = registry.game(recipe.game)
    assert isinstance(game, WordGame)
    ((_name, evaluation_set),) = evaluation_sets.load_evaluation_sets(game, [arguments.positions])
    print("| | with search | policy alone | seconds |\n|---|---|---|---|", flush=True)
    for name in arguments.only or CHANGES:
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            run = Path(folder) / "run"
            training_loop.train(
                change_recipe(recipe, CHANGES[name], arguments.updates),
                run,
                seed=arguments.seed,
                actors=arguments.actors,
                grade=False,
            )
            seconds = time.monotonic() - begin
            with_search, policy = grade(game, run, evaluation_set, recipe.selfplay)
        print(f"| {name} | {with_search:.2%} | {policy:.2%} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
