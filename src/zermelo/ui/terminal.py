"""The terminal: play a match line by line, with 0, 1 or 2 humans."""

import contextlib
import os
import sys
from dataclasses import replace

from zermelo.core.errors import ZermeloError
from zermelo.matches import saves
from zermelo.matches.match import Match
from zermelo.players import registry as roster
from zermelo.search.explain import analysis
from zermelo.ui import commands, texts
from zermelo.ui.commands import Leave, Options, Sitting
from zermelo.ui.session import sentence
from zermelo.ui.thinking import Think

_MAX_LINE = 1000
_MAX_ROWS = 12  # of a thought


def play(match: Match, players: tuple[str, str], options: Options) -> None:
    """Play to the end, or until the human leaves: then the game is saved."""
    _prepare()
    sitting = Sitting(match, players, options)
    print(sitting.title)
    print(sitting.board)
    try:
        while sitting.match.outcome is None:
            if sitting.thinker is None:
                _ask(sitting)
            else:
                _reply(sitting)
    except (Leave, EOFError, KeyboardInterrupt):
        _save(sitting)
        return
    except ZermeloError:  # a player that cannot go on
        _save(sitting)
        raise
    if sitting.kept:
        saves.forget(sitting.match.game.spec)
    verdict = sitting.match.verdict
    print(f"{verdict[0].upper()}{verdict[1:]}.")


def wants_colour() -> bool:
    """Colour on a terminal, unless NO_COLOR or a dumb terminal says otherwise."""
    dumb = os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and not dumb


def _prepare() -> None:
    """Lines can be edited on a terminal, and signs it does not know do not end the game."""
    if sys.stdin.isatty():
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401 - `input` uses it where it is there
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")


def _ask(sitting: Sitting) -> None:
    """One line from the human: a move or a command; a bad one is answered with the reason."""
    match = sitting.match
    if match.position.legal == ["pass"]:
        print("There is nothing else to play: type pass.")
    line = input(f"{match.game.symbols[match.position.player]} to move: ").strip()
    if len(line) > _MAX_LINE:
        print(f"A line of {len(line)} characters is no move. Type help for what is.")
        return
    found = commands.find(sitting, line)
    try:
        if found:
            command, argument = found
            said = command.run(sitting, argument)
            print(said, end="\n" if said else "")
            return
        before = match.position
        match.play(line)
    except ZermeloError as error:
        print(f"{sentence(error)} Type help for commands.")
        return
    move, cell = match.moves[-1], match.position.last_cell
    # The digits that would have played this move, as the game itself reads them.
    digits = "" if cell is None else match.game.cell_hint(before.state, cell)
    echo = move if digits in ("", move) or match.game.discs else f"{move} ({digits})"
    print(f"You played: {echo}\n{sitting.board}")


def _reply(sitting: Sitting) -> None:
    """A player's move. Ctrl-C asks for it now, where there is a human to go on with."""
    match, thinker, options = sitting.match, sitting.thinker, sitting.options
    assert thinker is not None
    position = match.position
    think = Think(thinker, position, replace(options.limit, every=options.thinking))
    if roster.HUMAN not in sitting.players:
        commands.wait(think)
    answer = commands.answer(think)
    match.play(answer.move)
    if options.thinking:
        found = analysis.to_json(position, answer, match.game.spec)
        print(texts.analysis_text(found, sitting.sides(position), _MAX_ROWS))
    symbol = match.game.symbols[position.player]
    print(f"{thinker.player.name} ({symbol}) plays {answer.move}\n{sitting.board}")


def _save(sitting: Sitting) -> None:
    """On leaving; where nothing was played, an earlier save stays as it is."""
    if not (sitting.match.moves or sitting.kept):
        print()
        return
    try:
        print(f"\n{sitting.keep()}")
    except OSError as error:
        moves = " ".join(sitting.match.moves)
        print(f"\nThe game could not be saved ({error.strerror}). Its moves: {moves}")
