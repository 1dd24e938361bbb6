"""Recipes as data: they need no torch, and their keys are those of the files."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from zermelo.learn.config import recipes
from zermelo.learn.config.learning import Phase, phase_at
from zermelo.learn.config.validation import BadRecipe, check


def test_recipes_need_neither_torch_nor_numpy() -> None:
    code = (
        "import sys, zermelo.learn.config.recipes\n"
        "print({'torch', 'numpy'} & set(sys.modules) or 'neither')"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "neither\n"


@pytest.mark.parametrize("name", recipes.names())
def test_recipes_survive_json(name: str) -> None:
    recipe = recipes.load(name)
    assert recipes.from_dict(recipe.to_dict()) == recipe
    assert recipes.from_dict(json.loads(json.dumps(recipe.to_dict()))) == recipe


@pytest.mark.parametrize(
    "text",
    [
        "game = " + "[" * 30_000,
        "game = " + "{a = " * 10_000,
        f"{'.'.join('a' * 5000)} = 1\n[short]\n{'.'.join('a' * 5000)} = 2",
    ],
    ids=["lists", "tables", "merged"],
)
def test_deeply_nested_toml_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "deep.toml"
    path.write_text(text)
    with pytest.raises(BadRecipe, match=r"^deep is not a recipe: .* nested too deeply$"):
        recipes.load(str(path), short=True)


def test_keys_of_renamed_fields() -> None:
    """Files of earlier versions are read, and written with the same keys."""
    recipe = recipes.load("connect4-alphazero")
    assert (recipe.selfplay.exploration, recipe.selfplay.td_lambda) == (0.05, 0.9)
    table = recipe.to_dict()["selfplay"]
    assert (table["curious"], table["mixed"]) == (0.05, 0.9)
    assert not {"exploration", "td_lambda"} & set(table)
    with pytest.raises(BadRecipe, match="has no key 'td_lambda'"):
        recipes.from_dict({"name": "x", "game": "y", "selfplay": {"td_lambda": 0.5}})


def test_messages_name_the_table() -> None:
    recipe = recipes.load("tictactoe-alphazero")
    bad = replace(recipe, selfplay=replace(recipe.selfplay, games=0))
    with pytest.raises(BadRecipe, match=r"selfplay\.games is 0: it must be 1 or more"):
        check(bad)


def test_phases() -> None:
    phases = (Phase(0.25, "random"), Phase(0.75, "self"))
    assert phase_at(phases, 0.0) == (phases[0], 0.0)
    assert phase_at(phases, 0.125) == (phases[0], 0.5)
    assert phase_at(phases, 0.25) == (phases[1], 0.0)
    assert phase_at(phases, 1.0) == (phases[1], 1.0)
