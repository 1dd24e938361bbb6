"""What can be typed beside moves: each command changes a sitting and answers with what to print."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from zermelo.core.errors import ZermeloError
from zermelo.core.player import Analysis, Limit
from zermelo.core.position import Position
from zermelo.matches import saves
from zermelo.matches.match import Match
from zermelo.players import registry as roster
from zermelo.search.explain import analysis
from zermelo.search.explain.analysis import Analyst
from zermelo.ui import texts
from zermelo.ui.session import saved_text
from zermelo.ui.thinking import Think, Thinker, seated

_PATIENCE = 3.0  # seconds for a hint, where --seconds does not say


@dataclass
class Options:
    """How the match is shown and how long players think."""

    hints: bool = False
    colour: bool = False
    thinking: bool = False  #: show what the players think before they move
    limit: Limit = field(default_factory=Limit)


class Leave(Exception):
    """The human leaves in the middle."""


class Sitting:
    """A match at the keyboard, and who sits where."""

    def __init__(self, match: Match, players: tuple[str, str], options: Options) -> None:
        self.match, self.players, self.options = match, players, options
        self.thinkers = seated(match.game, players)
        self.kept = bool(match.moves)  #: the save of this game is of this match
        self.analyst = Thinker(Analyst())  #: for hints, whoever plays

    @property
    def thinker(self) -> Thinker | None:
        """Whoever is to move, None for a human."""
        return self.thinkers[self.match.position.player]

    @property
    def title(self) -> str:
        """Who plays what, and how to type a move."""
        sides = " against ".join(
            f"{name} ({symbol})"
            for name, symbol in zip(self.players, self.match.game.symbols, strict=True)
        )
        humans = roster.HUMAN in self.players
        forms = f"\nMoves: {self.match.game.move_forms}. Type help for more." if humans else ""
        return f"{self.match.game.spec}: {sides}.{forms}\n"

    @property
    def board(self) -> str:
        """The board, with what the options ask for; indices only where they fit."""
        options, position = self.options, self.match.position
        wide = max(map(len, position.to_text(hints=options.hints).splitlines()), default=0)
        hints = options.hints and wide <= shutil.get_terminal_size().columns
        return position.to_text(hints=hints, colour=options.colour) + "\n"

    def sides(self, position: Position) -> tuple[str, str]:
        """The side to move and the other one, as people call them."""
        return texts.sides(self.match.game.symbols, self.players, position.player)

    def seat(self, players: tuple[str, str]) -> None:
        """Others play on; BadSpec leaves those who sit there."""
        self.thinkers, self.players = seated(self.match.game, players), players

    def keep(self, name: str = "") -> str:
        """Save the match; what to say about it. OSError when it cannot be saved."""
        save = saves.Save(self.match.game.spec, *self.players, tuple(self.match.moves))
        saves.write(save, name)
        if name:
            return f"Saved as {name}: load {name} brings it back."
        self.kept = True
        return saved_text(save)


@dataclass(frozen=True)
class Command:
    """A word, what may follow it, and what it does with a sitting and what followed."""

    word: str
    argument: str
    summary: str
    act: Callable[[Sitting, str], str]

    def run(self, sitting: Sitting, argument: str) -> str:
        """What to print; ZermeloError where it cannot be done."""
        if argument and not self.argument:
            return f"Nothing follows {self.word}. Type help for commands."
        return self.act(sitting, argument)


def find(sitting: Sitting, line: str) -> tuple[Command, str] | None:
    """The command that a line is, with its argument; a legal move of that name comes first."""
    word, _, argument = line.partition(" ")
    command = _COMMANDS.get(word.lower())
    is_move = any(line.lower() == move.lower() for move in sitting.match.position.legal)
    return None if command is None or is_move else (command, argument.strip())


def wait(think: Think) -> None:
    """Until it has ended."""
    while not think.done.wait(0.2):  # where signals do not end a wait, they come in between
        pass


def answer(think: Think) -> Analysis:
    """What it found; Ctrl-C asks for what it has by now, another one is the caller's."""
    try:
        wait(think)
    except KeyboardInterrupt:
        think.stop()
        wait(think)
    if think.found is None:
        raise ZermeloError(think.error)
    return think.found


def _hint(sitting: Sitting, _: str) -> str:
    found = _judge(sitting)
    return _judged(sitting, found["candidates"][0], found)


def _why(sitting: Sitting, move: str) -> str:
    position = sitting.match.position
    if not move:
        return f"Type why and a move, such as why {position.legal[0]}."
    text = sitting.match.game.to_text(position.parse(move))
    found = _judge(sitting)
    return _judged(sitting, next(c for c in found["candidates"] if c["move"] == text), found)


def _judge(sitting: Sitting) -> dict[str, Any]:
    limit = sitting.options.limit
    limit = replace(limit, seconds=limit.seconds or _PATIENCE)
    position = sitting.match.position
    found = answer(Think(sitting.analyst, position, limit))
    return analysis.to_json(position, found, sitting.match.game.spec)


def _judged(sitting: Sitting, candidate: dict[str, Any], found: dict[str, Any]) -> str:
    head = texts.row_text(candidate, sitting.sides(sitting.match.position))[2:]
    why = [f"  {reason['text']}: {' '.join(reason['line'])}" for reason in candidate["reasons"]]
    why = why or [f"  expected: {texts.reasons_text(candidate)}"]
    # A win elsewhere may be proven, and this move an estimate.
    effort = texts.effort_text(found | {"exact": candidate["exact"]})
    return "\n".join([head, *why, f"  ({effort})"])


def _undo(sitting: Sitting, _: str) -> str:
    taken = sitting.match.undo_to(_humans(sitting))
    if not taken:
        return "There is nothing to take back."
    return f"Took back {_moves(taken)}.\n{sitting.board}"


def _redo(sitting: Sitting, _: str) -> str:
    again = sitting.match.redo_to(_humans(sitting))
    if not again:
        return "There is nothing to play again."
    return f"Played {_moves(again)} again.\n{sitting.board}"


def _humans(sitting: Sitting) -> set[int]:
    return {seat for seat, spec in enumerate(sitting.players) if spec == roster.HUMAN}


def _moves(number: int) -> str:
    return f"{number} move{'s' if number > 1 else ''}"


def _history(sitting: Sitting, _: str) -> str:
    return texts.history_text(sitting.match.moves, sitting.match.times)


def _save(sitting: Sitting, name: str) -> str:
    try:
        return sitting.keep(name)
    except OSError as error:
        return f"The game could not be saved ({error.strerror})."


def _load(sitting: Sitting, name: str) -> str:
    own = sitting.match.game.spec
    save = saves.read_named(name) if name else saves.read(own)
    how = f"{save.command(resume='')}, then load {name}" if name else save.command()
    saves.check_files(save, (own, *sitting.players), how)
    match = Match(sitting.match.game if save.game == own else save.game, save.moves)
    thinkers = seated(match.game, (save.first, save.second))  # which may refuse
    sitting.match, sitting.players = match, (save.first, save.second)
    sitting.thinkers, sitting.kept = thinkers, not name
    return f"{sitting.title}\n{sitting.board}"


def _resign(sitting: Sitting, _: str) -> str:
    sitting.match.resign()
    return ""


def _swap(sitting: Sitting, _: str) -> str:
    first, second = sitting.players
    if first == second:
        return "Both seats are yours: there is nobody to change them with."
    sitting.seat((second, first))
    return sitting.title


def _level(sitting: Sitting, number: str) -> str:
    if not number:
        return "Type level and a number from 1, a beginner, to 10, which never errs."
    mover = sitting.match.position.player
    spec = f"level:{number}"
    sitting.seat((sitting.players[0], spec) if mover == 0 else (spec, sitting.players[1]))
    return sitting.title


def _help(sitting: Sitting, _: str) -> str:
    rows = [("moves", sitting.match.game.move_forms)]
    rows += [(f"{c.word} {c.argument}".strip(), c.summary) for c in _COMMANDS.values()]
    width = max(len(head) for head, _ in rows)
    note = ["A legal move of the same name comes first: swap, where the pie rule allows it."]
    has_swap = "swap" in sitting.match.game.move_forms
    return "\n".join([f"{head:{width}}  {what}" for head, what in rows] + note * has_swap)


def _quit(_sitting: Sitting, _: str) -> str:
    raise Leave


_COMMANDS = {
    command.word: command
    for command in (
        Command("hint", "", "a good move, and why", _hint),
        Command("why", "MOVE", "what a move leads to", _why),
        Command("undo", "", "take back your last move", _undo),
        Command("redo", "", "play again what was taken back", _redo),
        Command("history", "", "the moves so far, and the seconds each took", _history),
        Command("board", "", "the board again", lambda sitting, _: sitting.board),
        Command("save", "[NAME]", "keep the game, under a name if you like", _save),
        Command("load", "[NAME]", "go on with a game that was kept", _load),
        Command("level", "N", "play against level N, 1 to 10", _level),
        Command("swap", "", "change seats with your opponent", _swap),
        Command("resign", "", "give up", _resign),
        Command("quit", "", "leave; the game is saved", _quit),
        Command("help", "", "this list", _help),
    )
}
