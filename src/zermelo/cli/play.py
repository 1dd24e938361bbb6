"""Commands that play: `play` in the terminal, `window`, and `choose` for scripts."""

import sys
from typing import TYPE_CHECKING

import click

from zermelo.cli.common import options
from zermelo.cli.common.help import command
from zermelo.cli.common.options import Fields, PositionSource
from zermelo.cli.common.progress import Progress
from zermelo.core.phrases import escape_controls

if TYPE_CHECKING:
    from zermelo.core.player import Limit
    from zermelo.core.position import Position
    from zermelo.matches.match import Match

# seconds for which a thinking thread may hold the interpreter lock while a frame waits to be drawn
_SWITCH_INTERVAL = 0.0005


@command(
    examples=(
        "zermelo play connect4 --second level:3",
        "zermelo play tictactoe --second human --indices",
    )
)
@options.match_options(second="random")
@click.option("--show-thinking", is_flag=True, help="Show how the players evaluate every move.")
@click.option(
    "--indices", is_flag=True, help="In each empty cell, show what to type to play there."
)
@click.option("--full-screen", is_flag=True, help="Show board, moves and analysis on one screen.")
def play(
    game: str | None,
    first: str | None,
    second: str | None,
    seconds: float | None,
    resume: bool,
    show_thinking: bool,
    indices: bool,
    full_screen: bool,
) -> None:
    """Play GAME in the terminal, with 0, 1 or 2 humans."""
    from zermelo.core.player import Limit
    from zermelo.matches.match import Match
    from zermelo.players.registry import HUMAN
    from zermelo.ui import terminal
    from zermelo.ui.styles import wants_colour
    from zermelo.ui.terminal_match import DisplayOptions

    moves: tuple[str, ...] = ()
    if resume:
        save = options.load_saved_game(game, first, second)
        game, first, second, moves = save.game, save.first, save.second, save.moves
    if game is None:
        msg = "name a game, as in `zermelo play tictactoe`; `zermelo games` lists them"
        raise click.UsageError(msg)
    match = Match(game, moves)
    players = (first or HUMAN).strip(), (second or "random").strip()
    limit = Limit(seconds=seconds)
    if full_screen:
        _play_full_screen(match, players, limit, show_thinking=show_thinking)
        return
    display = DisplayOptions(indices, wants_colour(), show_thinking, limit)
    terminal.play(match, players, display)


def _play_full_screen(
    match: "Match", players: tuple[str, str], limit: "Limit", *, show_thinking: bool
) -> None:
    """Run the full screen. Raise UsageError if textual or a terminal is missing."""
    from zermelo.ui.session import Session

    try:
        from zermelo.ui.fullscreen import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("textual", "rich"):
            raise
        msg = "--full-screen needs textual: pip install 'zermelo[tui]'"
        raise click.UsageError(msg) from None
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        msg = "--full-screen needs a terminal for input and output"
        raise click.UsageError(msg)
    session = Session(match.game, *players, moves=match.moves, limit=limit)
    session.set_analysis(show_thinking)
    message = app.run(session)
    if message:
        options.print_line(message)


@command(
    examples=(
        "zermelo window connect4",
        "zermelo window squava --second level:8",
    )
)
@options.match_options(second="level:5")
def window(
    game: str | None, first: str | None, second: str | None, seconds: float | None, resume: bool
) -> None:
    """Play GAME in a window, with 0, 1 or 2 humans.

    GAME is tictactoe by default; the window has a menu of games.
    """
    import zermelo.ui.window  # noqa: F401 - must come before pygame, to silence its greeting

    try:
        import pygame
        from pygame import Window  # noqa: F401 - missing in the original pygame
    except ImportError:
        msg = "the window needs pygame-ce: pip install 'zermelo[window]'"
        raise click.ClickException(msg) from None
    from zermelo.core.player import Limit
    from zermelo.ui.session import Session
    from zermelo.ui.window import app

    moves: tuple[str, ...] = ()
    if resume:
        save = options.load_saved_game(game, first, second)
        game, first, second, moves = save.game, save.first, save.second, save.moves
    session = Session(
        game or "tictactoe",
        first or "human",
        second or "level:5",
        moves=moves,
        limit=Limit(seconds=seconds),
    )
    sys.setswitchinterval(_SWITCH_INTERVAL)
    try:
        app.run(session)
    except pygame.error as error:
        msg = f"cannot open a window: {error}"
        raise click.ClickException(msg) from None
    finally:
        session.close()
        message = session.view().message  # this message says how to continue the game
        if message:
            options.print_line(message.replace("zermelo play", "zermelo window"))


@command(
    examples=(
        "zermelo choose connect4 mcts:sims=200 --moves 4455",
        'zermelo choose tictactoe perfect --board "XX./OO./..." --json',
    )
)
@click.argument("game")
@click.argument("player")
@options.position_options
@options.seconds_option("Time limit for the move.")
@options.json_option
@options.runs_players
def choose(
    game: str, player: str, source: PositionSource, seconds: float | None, as_json: bool
) -> int:
    """Print the move that PLAYER chooses in a position of GAME."""
    from zermelo.core.player import Limit, last_analysis
    from zermelo.games import registry, user_code
    from zermelo.players.registry import load_player

    rules = registry.game(game)
    chooser = load_player(player)

    def answer(position: "Position") -> Fields:
        progress(position.verdict)
        if position.is_over:
            return chooser.choose(position).choice()  # raises the error for a finished game
        with user_code.forbid_exit(player):
            return last_analysis(chooser.think(position, Limit(seconds=seconds))).choice()

    with Progress(f"{player} in {game}") as progress:
        return options.answer_positions(rules, source, answer, _move_text, as_json=as_json)


def _move_text(fields: Fields) -> str:
    return escape_controls(fields["move"])
