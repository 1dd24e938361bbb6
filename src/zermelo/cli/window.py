"""The command that opens a window."""

import sys

import click

from zermelo.cli import options

# seconds: a frame waits for a thinking thread's Python no longer than this
_SWITCH = 0.0005


@click.command()
@click.argument("game", required=False)
@click.option("--first", help="Who moves first; a player spec.  [human]")
@click.option("--second", help="Who moves second; a player spec.  [level:5]")
@click.option("--seconds", type=options.Seconds(), help="Thinking time a move.")
@click.option("--resume", is_flag=True, help="Go on with the game that was left.")
def window(
    game: str | None, first: str | None, second: str | None, seconds: float | None, resume: bool
) -> None:
    """Play GAME in a window, with 0, 1 or 2 humans."""
    import zermelo.ui.window  # noqa: F401 - it keeps pygame quiet

    try:
        import pygame
        from pygame import Window  # noqa: F401 - the older pygame has none
    except ImportError:
        msg = 'the window needs pygame-ce: pip install "zermelo[window]"'
        raise click.ClickException(msg) from None
    from zermelo.core.player import Limit
    from zermelo.ui.session import Session
    from zermelo.ui.window import app

    moves: tuple[str, ...] = ()
    if resume:
        save = options.saved(game, first, second)
        game, first, second, moves = save.game, save.first, save.second, save.moves
    session = Session(
        game or "tictactoe",
        first or "human",
        second or "level:5",
        moves=moves,
        limit=Limit(seconds=seconds),
    )
    sys.setswitchinterval(_SWITCH)
    try:
        app.run(session)
    except pygame.error as error:
        msg = f"no window can be opened here: {error}"
        raise click.ClickException(msg) from None
    finally:
        session.close()
        message = session.view().message  # how to go on
        if message:
            click.echo(message.replace("zermelo play", "zermelo window"))
