"""Commands about learning: `recipes` lists what to train, `inspect` shows what networks see."""

from typing import TYPE_CHECKING

import click

from zermelo.cli.common import options
from zermelo.cli.common.help import command
from zermelo.cli.common.options import Fields, PositionSource
from zermelo.core.phrases import escape_controls

if TYPE_CHECKING:
    from zermelo.core.position import Position
    from zermelo.learn.config.recipe import Recipe


@command(examples=("zermelo recipes", "zermelo recipes tictactoe-dqn > mine.toml"))
@click.argument("name", required=False)
@options.json_option
def recipes(name: str | None, as_json: bool) -> None:
    """List the training recipes, or show the recipe NAME.

    NAME is the name of a shipped recipe or a .toml file. Its text is a starting point for a recipe
    of your own: `zermelo train` takes the name or the file.
    """
    from zermelo.learn.config import recipes as cookbook

    if name is not None:
        recipe = cookbook.load(name)
        if as_json:
            options.print_json(recipe.to_dict())
        else:
            options.print_record(cookbook.read_text(name).rstrip("\n"))
        return
    entries = cookbook.list_recipes()
    if as_json:
        options.print_json([_recipe_fields(recipe) for recipe in entries])
        return
    width, style = max(len(entry.name) for entry in entries) + 2, options.output_style()
    for entry in entries:
        budget = f"{entry.game}, {entry.method}, {entry.learning.updates:,} updates"
        options.print_line(f"{entry.name:{width}}{budget}", bold=True)
        options.print_text(style.wrap(f"  {entry.summary}", indent=2))
    options.print_line("")
    options.print_line("`zermelo train RECIPE` trains one; `zermelo recipes NAME` shows its file.")


def _recipe_fields(recipe: "Recipe") -> Fields:
    return {
        "name": recipe.name,
        "game": recipe.game,
        "method": recipe.method,
        "updates": recipe.learning.updates,
        "summary": recipe.summary,
    }


@command(examples=('zermelo inspect gomoku6 --moves "b2 a1 c2"',))
@click.argument("game")
@options.position_options
@options.json_option
def inspect(game: str, source: PositionSource, as_json: bool) -> int:
    """Show a position of GAME as neural networks see it.

    Prints the planes, features and patterns of the position, and the shaping reward of the last
    move in --moves. If one of these does not apply to the game, prints the reason instead.
    """
    from zermelo.games import registry
    from zermelo.learn.batch import inspect

    rules = registry.game(game)

    def answer(position: "Position") -> Fields:
        return inspect.inspect(position, game)

    def to_text(fields: Fields) -> str:
        return escape_controls(inspect.to_text(fields), keep="\n")

    return options.answer_positions(rules, source, answer, to_text, as_json=as_json)
