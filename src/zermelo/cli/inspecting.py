"""The command that shows a position as learners see it."""

from typing import TYPE_CHECKING, Any

import click

from zermelo.cli import asking

if TYPE_CHECKING:
    from zermelo.position import Position


@click.command()
@click.argument("game")
@asking.position_options
@asking.json_option
def inspect(
    game: str, moves: str | None, board: str | None, from_stdin: bool, as_json: bool
) -> int:
    """A position of GAME as networks see it: planes, named features, patterns, shaping reward.

    The reward is that of the last move of --moves. What does not fit the game is left out, and the
    reason given.
    """
    from zermelo.games import registry
    from zermelo.learn import inspecting

    rules = registry.game(game)

    def find(position: "Position") -> dict[str, Any]:
        return inspecting.inspect(position, game)

    return asking.answer(rules, find, moves, board, from_stdin, as_json, inspecting.to_text)
