"""The commands of the terminal. Each one acts on the match and returns the text to print."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace

from zermelo.core.phrases import count, escape_controls
from zermelo.core.player import Analysis
from zermelo.games.descriptions import describe_rules
from zermelo.matches import saves
from zermelo.matches.match import Match
from zermelo.ui import texts
from zermelo.ui.styles import style_of
from zermelo.ui.terminal_match import TerminalMatch
from zermelo.ui.texts import Fields
from zermelo.ui.thinking import ThinkingThread

_HINT_SECONDS = 3.0  # time for a hint, unless --seconds is given


class QuitGame(Exception):
    """Raised when the human quits."""


@dataclass(frozen=True)
class Command:
    """A terminal command: its word, its argument, a summary for `help`, and its function."""

    word: str
    argument: str  #: "" if the command takes no argument
    summary: str
    function: Callable[[TerminalMatch, str], str]

    def run(self, terminal: TerminalMatch, argument: str) -> str:
        """Run the command and return the text to print. Raise ZermeloError if it fails."""
        if argument and not self.argument:
            return f"{self.word} takes no argument. Type help for the commands."
        return self.function(terminal, argument)


def find_command(terminal: TerminalMatch, line: str) -> tuple[Command, str] | None:
    """Return the command and the argument in a line, or None if the line is not a command."""
    word, _, argument = line.partition(" ")
    command = _COMMANDS.get(word.lower())
    is_move = any(line.lower() == move.lower() for move in terminal.match.position.legal)
    return None if command is None or is_move else (command, argument.strip())


def wait_or_stop(thread: ThinkingThread) -> Analysis:
    """Wait for an analysis and return it; the first Ctrl-C makes the player stop thinking."""
    try:
        return thread.wait()
    except KeyboardInterrupt:
        thread.stop()
        return thread.wait()


def _hint(terminal: TerminalMatch, _: str) -> str:
    result = _analyze(terminal)
    return _explain(terminal, result["candidates"][0], result)


def _why(terminal: TerminalMatch, move: str) -> str:
    position = terminal.match.position
    if not move:
        return f"Name a move, as in: why {position.legal[0]}"
    canonical = position.to_move_text(position.parse(move))
    result = _analyze(terminal)
    candidate = next(c for c in result["candidates"] if c["move"] == canonical)
    return _explain(terminal, candidate, result)


def _analyze(terminal: TerminalMatch) -> Fields:
    limit = terminal.options.limit
    limit = replace(limit, seconds=limit.seconds or _HINT_SECONDS)
    position = terminal.match.position
    result = wait_or_stop(ThinkingThread(terminal.analyst, position, limit))
    return result.to_dict(position=position)


def _explain(terminal: TerminalMatch, candidate: Fields, result: Fields) -> str:
    sides, style = terminal.side_names(terminal.match.position), style_of(sys.stdout)
    head = style.paint(texts.candidate_text(candidate, sides)[2:], candidate["value"])
    reasons = [
        f"  {texts.reason_text(reason, sides)}: {' '.join(reason['line'])}"
        for reason in candidate["reasons"]
    ]
    reasons = reasons or [f"  expected: {texts.reasons_text(candidate)}"]
    # `exact` refers to this move: another move may be proven to win while this one is estimated.
    effort = texts.effort_text(result | {"exact": candidate["exact"]})
    return "\n".join([head, *(style.wrap(reason, 4) for reason in reasons), f"  ({effort})"])


def _undo(terminal: TerminalMatch, _: str) -> str:
    number = terminal.match.undo_to_turn(terminal.humans)
    if not number:
        return "There is no move to take back."
    return f"Took back {count(number, 'move')}.\n{terminal.board}"


def _redo(terminal: TerminalMatch, _: str) -> str:
    number = terminal.match.redo_to_turn(terminal.humans)
    if not number:
        return "There is no move to play again."
    return f"Played {count(number, 'move')} again.\n{terminal.board}"


def _history(terminal: TerminalMatch, _: str) -> str:
    match, game = terminal.match, terminal.match.game
    sides = () if game.is_alternating else [game.symbols[player] for player in match.movers]
    return texts.history_text(match.moves, match.move_seconds, sides)


def _load(terminal: TerminalMatch, name: str) -> str:
    spec = terminal.match.game.spec
    save = saves.read_named(name) if name else saves.read(spec)
    advice = save.resume_command()
    if name:
        advice = f"{save.resume_command(option='')}, then load {name}"
    saves.check_files(save, (spec, *terminal.players), advice)
    match = Match(terminal.match.game if save.game == spec else save.game, save.moves)
    terminal.load(match, (save.first, save.second), is_named=bool(name))
    return f"{terminal.title}\n{terminal.board}"


def _rules(terminal: TerminalMatch, _: str) -> str:
    style = style_of(sys.stdout)
    sentences = describe_rules(terminal.match.game).sentences
    return "\n".join(style.wrap(escape_controls(sentence)) for sentence in sentences)


def _resign(terminal: TerminalMatch, _: str) -> str:
    terminal.match.resign()
    return ""


def _swap(terminal: TerminalMatch, _: str) -> str:
    first, second = terminal.players
    if first == second:
        return "You play both sides, so there is nobody to swap with."
    terminal.seat_players((second, first))
    return terminal.title


def _level(terminal: TerminalMatch, number: str) -> str:
    if not number:
        return "Name a level from 1 (beginner) to 10 (perfect), as in: level 3"
    spec = f"level:{number}"
    first, second = terminal.players
    is_first = terminal.match.position.player == 0
    terminal.seat_players((first, spec) if is_first else (spec, second))
    return terminal.title


def _help(terminal: TerminalMatch, _: str) -> str:
    rows = [("moves", terminal.match.game.move_forms)]
    rows += [(f"{c.word} {c.argument}".strip(), c.summary) for c in _COMMANDS.values()]
    width = max(len(head) for head, _ in rows)
    note = ["If swap is a legal move by the pie rule, swap plays it."]
    has_swap = "swap" in terminal.match.game.move_forms
    return "\n".join([f"{head:{width}}  {text}" for head, text in rows] + note * has_swap)


def _quit(_terminal: TerminalMatch, _: str) -> str:
    raise QuitGame


_COMMANDS = {
    command.word: command
    for command in (
        Command("hint", "", "suggest a move and say why", _hint),
        Command("why", "MOVE", "explain what a move leads to", _why),
        Command("undo", "", "take back your last move", _undo),
        Command("redo", "", "play again the moves you took back", _redo),
        Command("rules", "", "explain how the game is played", _rules),
        Command("history", "", "list the moves so far with their times", _history),
        Command("board", "", "show the board again", lambda terminal, _: terminal.board),
        Command("save", "[NAME]", "save the game, optionally under a name", TerminalMatch.save),
        Command("load", "[NAME]", "continue a saved game", _load),
        Command("level", "N", "play against level N, 1 to 10", _level),
        Command("swap", "", "swap seats with your opponent", _swap),
        Command("resign", "", "give up", _resign),
        Command("quit", "", "save the game and quit", _quit),
        Command("help", "", "show this list", _help),
    )
}
