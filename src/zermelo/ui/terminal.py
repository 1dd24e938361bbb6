"""The terminal: play a match line by line, with 0, 1 or 2 humans."""

import contextlib
import sys
from dataclasses import replace

from zermelo.core.errors import ZermeloError
from zermelo.core.phrases import escape_controls
from zermelo.core.position import Position
from zermelo.matches.match import Match
from zermelo.ui import texts
from zermelo.ui.commands import QuitGame, find_command, wait_or_stop
from zermelo.ui.styles import style_of
from zermelo.ui.terminal_match import DisplayOptions, TerminalMatch
from zermelo.ui.texts import to_sentence
from zermelo.ui.thinking import ThinkingThread

_MAX_LINE = 1000  # characters
_MAX_ROWS = 12  # maximum number of moves shown of an analysis


def play(match: Match, players: tuple[str, str], options: DisplayOptions) -> None:
    """Play a match to the end, or until the human quits; then save it if it is unfinished."""
    _prepare_streams()
    terminal = TerminalMatch(match, players, options)
    print(terminal.title)
    print(terminal.board)
    try:
        while terminal.match.outcome is None:
            if terminal.player_to_move is None:
                _read_line(terminal)
            else:
                _reply(terminal)
    except (QuitGame, EOFError, KeyboardInterrupt):
        _leave(terminal)
        return
    except ZermeloError:  # a player has no move
        _leave(terminal)
        raise
    terminal.saver.leave(terminal.match, terminal.players)
    print(to_sentence(texts.verdict_text(terminal.match, terminal.players)))


def _prepare_streams() -> None:
    """Enable line editing on a terminal, and replace characters that stdout cannot encode."""
    if sys.stdin.isatty():
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401 - `input` uses it once it is imported
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")


def _read_line(terminal: TerminalMatch) -> None:
    """Read a line from the human and run it as a command or move; if it is bad, print the error."""
    match = terminal.match
    if match.position.legal == ["pass"]:
        print("Your only legal move is pass: type pass.")
    line = input(f"{match.game.symbols[match.position.player]} to move: ").strip()
    if len(line) > _MAX_LINE:
        print(f"A line of {len(line):,} characters is too long. Type help for the commands.")
        return
    command = find_command(terminal, line)
    try:
        if command is not None:
            text = command[0].run(terminal, command[1])
            print(text, end="\n" if text else "")
            return
        before = match.position
        match.play(line)
    except ZermeloError as error:
        text = f"{to_sentence(error)} Type help for the commands."
        print(style_of(sys.stdout).wrap(text))
        return
    print(f"You played: {_echo(match, before)}\n{terminal.board}")


def _echo(match: Match, before: Position) -> str:
    """Return the last move and, in brackets, the digits that name the same move."""
    move, cell = match.moves[-1], match.position.last_cell
    digits = "" if cell is None else match.game.cell_hint(before.state, cell)
    return move if digits in ("", move) or match.game.has_discs else f"{move} ({digits})"


def _reply(terminal: TerminalMatch) -> None:
    """Let a player move. Ctrl-C makes it move now, or quits if no human plays."""
    match, seat, options = terminal.match, terminal.player_to_move, terminal.options
    assert seat is not None
    position = match.position
    thread = ThinkingThread(seat, position, replace(options.limit, all_moves=options.thinking))
    answer = wait_or_stop(thread) if terminal.humans else thread.wait()
    match.play(answer.move)
    if options.thinking:
        fields = answer.to_dict(position=position)
        sides, style = terminal.side_names(position), style_of(sys.stdout)
        print(texts.analysis_text(fields, sides, _MAX_ROWS, style))
    symbol = match.game.symbols[position.player]
    name = escape_controls(seat.player.name)
    print(f"{name} ({symbol}) plays {match.moves[-1]}\n{terminal.board}")


def _leave(terminal: TerminalMatch) -> None:
    """Save an unfinished match and say how to continue it."""
    try:
        message = terminal.saver.leave(terminal.match, terminal.players)
    except ZermeloError as error:
        message = to_sentence(error)
    print(f"\n{escape_controls(message)}" if message else "")
