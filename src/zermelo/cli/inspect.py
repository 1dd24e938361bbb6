"""The command that shows a position as learners see it."""

from typing import TYPE_CHECKING, Any

import click

from zermelo.cli import options

if TYPE_CHECKING:
    from zermelo.core.position import Position


@click.command()
@click.argument("game")
@options.position_options
@options.json_option
def inspect(
    game: str, moves: str | None, board: str | None, from_stdin: bool, as_json: bool
) -> int:
    """A position of GAME as networks see it: planes, named features, patterns, shaping reward.

    The reward is that of the last move of --moves. What does not fit the game is left out, and the
    reason given.
    """
    from zermelo.games import registry
    from zermelo.learn.batch import inspect

    rules = registry.game(game)

    def find(position: "Position") -> dict[str, Any]:
        return inspect.inspect(position, game)

    return options.answer(rules, find, moves, board, from_stdin, as_json, inspect.to_text)
