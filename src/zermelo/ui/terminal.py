"""The terminal: play a match line by line, with 0, 1 or 2 humans."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from zermelo import roster, saves
from zermelo.errors import IllegalMove, ZermeloError
from zermelo.games import files
from zermelo.matches import Match
from zermelo.players import Limit, Player
from zermelo.position import Position
from zermelo.search import analysis
from zermelo.search.analysis import Analyst
from zermelo.ui import showing

_HELP = """moves     {forms}
hint      a good move, and why
why MOVE  what a move leads to
undo      take back your last move
history   the moves so far
board     the board again
resign    give up
quit      leave; the game is saved
help      this list"""
_MAX_LINE = 1000
_MAX_ROWS = 12  # of a thought
_PATIENCE = 3.0  # seconds for a hint, where --seconds does not say


@dataclass
class Options:
    """How the match is shown and how long players think."""

    hints: bool = False
    colour: bool = False
    thinking: bool = False  #: show what the players think before they move
    limit: Limit = field(default_factory=Limit)
    analyst: Analyst = field(default_factory=Analyst)


class Leave(Exception):
    """The human leaves in the middle."""


def play(match: Match, players: tuple[str, str], options: Options) -> None:
    """Play to the end, or until the human leaves: then the game is saved."""
    resumed = bool(match.moves)
    engines = tuple(None if spec == roster.HUMAN else roster.player(spec) for spec in players)
    print(_title(match, players))
    print(_board(match, options))
    try:
        while match.outcome is None:
            engine = engines[match.position.player]
            if engine is None:
                _ask(match, engines, options)
            else:
                _reply(match, engines, options)
    except (Leave, EOFError, KeyboardInterrupt):
        _save(match, players)
        return
    except ZermeloError:  # a player that cannot go on
        _save(match, players)
        raise
    if resumed:
        saves.forget(match.game.spec)
    print(f"{match.verdict[0].upper()}{match.verdict[1:]}.")


def wants_colour() -> bool:
    """Colour on a terminal, unless NO_COLOR or a dumb terminal says otherwise."""
    dumb = os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and not dumb


def _title(match: Match, players: tuple[str, str]) -> str:
    sides = " against ".join(
        f"{name} ({symbol})" for name, symbol in zip(players, match.game.symbols, strict=True)
    )
    humans = roster.HUMAN in players
    forms = f"\nMoves: {match.game.move_forms}. Type help for more." if humans else ""
    return f"{match.game.spec}: {sides}.{forms}\n"


def _board(match: Match, options: Options) -> str:
    return match.position.to_text(hints=options.hints, colour=options.colour) + "\n"


def _ask(match: Match, engines: tuple[Player | None, ...], options: Options) -> None:
    """One line from the human: a move or a command; a bad one is answered with the reason."""
    symbol = match.game.symbols[match.position.player]
    if match.position.legal == ["pass"]:
        print("There is nothing else to play: type pass.")
    line = input(f"{symbol} to move: ").strip()
    commands: dict[str, Callable[[], None]] = {
        "hint": lambda: _hint(match, engines, options),
        "undo": lambda: _undo(match, engines, options),
        "history": lambda: print(_history(match)),
        "board": lambda: print(_board(match, options)),
        "resign": match.resign,
        "quit": _leave,
        "help": lambda: print(_HELP.format(forms=match.game.move_forms)),
    }
    if line.lower() in commands:
        commands[line.lower()]()
        return
    if line.lower().split()[:1] == ["why"]:
        _why(match, line[3:].strip(), engines, options)
        return
    if len(line) > _MAX_LINE:
        print(f"A line of {len(line)} characters is no move. Type help for what is.")
        return
    try:
        match.play(line)
    except IllegalMove as error:
        print(f"{str(error)[0].upper()}{str(error)[1:]}. Type help for commands.")
        return
    move = match.moves[-1]
    cell = match.position.last_cell
    index = "" if cell is None or match.game.discs else f" ({cell})"
    print(f"You played: {move}{index}\n{_board(match, options)}")


def _reply(match: Match, engines: tuple[Player | None, ...], options: Options) -> None:
    position = match.position
    engine = engines[position.player]
    assert engine is not None
    limit = replace(options.limit, every=options.thinking)
    answer = match.reply(engine, limit)
    if options.thinking:
        found = analysis.to_json(position, answer, match.game.spec)
        print(showing.analysis_text(found, _sides(match, position, engines), _MAX_ROWS))
    symbol = match.game.symbols[position.player]
    print(f"{engine.name} ({symbol}) plays {answer.move}\n{_board(match, options)}")


def _sides(match: Match, position: Position, engines: tuple[Player | None, ...]) -> tuple[str, str]:
    """The side to move and the other one: human and AI where there is one of each."""
    mover = position.player
    symbols = match.game.symbols
    if (engines[0] is None) == (engines[1] is None):
        return symbols[mover], symbols[1 - mover]
    names = tuple("human" if engine is None else "AI" for engine in engines)
    return names[mover], names[1 - mover]


def _hint(match: Match, engines: tuple[Player | None, ...], options: Options) -> None:
    """The best move with its reasons."""
    found = _judge(match, options)
    best = found["candidates"][0]
    _say(match, best, found, engines)


def _why(match: Match, move: str, engines: tuple[Player | None, ...], options: Options) -> None:
    """What a move leads to, and what shows it."""
    if not move:
        print(f"Type why and a move, such as why {match.position.legal[0]}.")
        return
    try:
        text = match.game.to_text(match.position.parse(move))
    except IllegalMove as error:
        print(f"{str(error)[0].upper()}{str(error)[1:]}. Type why and a move.")
        return
    found = _judge(match, options)
    judged = next(c for c in found["candidates"] if c["move"] == text)
    _say(match, judged, found, engines)


def _judge(match: Match, options: Options) -> dict[str, Any]:
    limit = options.limit if options.limit.seconds else replace(options.limit, seconds=_PATIENCE)
    thought = analysis.analyze(match.position, limit, analyst=options.analyst)
    return analysis.to_json(match.position, thought, match.game.spec)


def _say(
    match: Match,
    candidate: dict[str, Any],
    found: dict[str, Any],
    engines: tuple[Player | None, ...],
) -> None:
    print(showing.row_text(candidate, _sides(match, match.position, engines))[2:])
    for reason in candidate["reasons"]:
        print(f"  {reason['text']}: {' '.join(reason['line'])}")
    if not candidate["reasons"]:
        print(f"  expected: {showing.reasons_text(candidate)}")
    print(f"  ({showing.effort_text(found)})")


def _undo(match: Match, engines: tuple[Player | None, ...], options: Options) -> None:
    """Back to where a human last had the choice."""
    start = match.game.start().player
    own = [ply for ply in range(len(match.moves)) if engines[(start + ply) % 2] is None]
    if not own:
        print("There is nothing to take back.")
        return
    taken = 0
    while match.moves and (taken == 0 or engines[match.position.player] is not None):
        match.undo()
        taken += 1
    print(f"Took back {taken} move{'s' if taken > 1 else ''}.\n{_board(match, options)}")


def _history(match: Match) -> str:
    moves = match.moves
    if not moves:
        return "No moves yet."
    pairs = (moves[i : i + 2] for i in range(0, len(moves), 2))
    return "\n".join(f"{number:>3}. {'  '.join(pair)}" for number, pair in enumerate(pairs, 1))


def _leave() -> None:
    raise Leave


def _save(match: Match, players: tuple[str, str]) -> None:
    try:
        saves.write(saves.Save(match.game.spec, *players, tuple(match.moves)))
    except OSError as error:
        print(
            f"\nThe game could not be saved ({error.strerror}). Its moves: {' '.join(match.moves)}"
        )
        return
    # A file is code: it is loaded only where it is named.
    named = f"{match.game.spec} " if files.is_file(match.game.spec) else ""
    print(f"\nThe game is saved. Go on with: zermelo play {named}--resume")
