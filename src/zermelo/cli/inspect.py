"""The command `inspect`, which shows a position as neural networks see it."""

from typing import TYPE_CHECKING

import click

from zermelo.cli.common import options
from zermelo.cli.common.options import Fields, PositionSource

if TYPE_CHECKING:
    from zermelo.core.position import Position


@click.command()
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

    return options.answer_positions(rules, source, answer, inspect.to_text, as_json=as_json)
