"""A match in the terminal: who plays it, how it is displayed, and how it is saved."""

import shutil
import textwrap
from dataclasses import dataclass, field

from zermelo.core.cells import moves_by_cell
from zermelo.core.phrases import YOU, escape_controls
from zermelo.core.player import Limit
from zermelo.core.position import Position
from zermelo.matches.match import Match
from zermelo.players.registry import HUMAN
from zermelo.search.explain.analysis import Analyst
from zermelo.ui import texts
from zermelo.ui.saving import MatchSaver
from zermelo.ui.thinking import LockedPlayer, load_seats


@dataclass
class DisplayOptions:
    """Settings for displaying a match, and a limit on how long players think."""

    indices: bool = False  #: show in each empty cell what to type to play there
    colour: bool = False
    thinking: bool = False  #: show the players' analyses
    limit: Limit = field(default_factory=Limit)


class TerminalMatch:
    """A match with its players and display options."""

    def __init__(self, match: Match, players: tuple[str, str], options: DisplayOptions) -> None:
        self.match, self.players, self.options = match, players, options
        self.seats = load_seats(match.game, players)
        self.saver = MatchSaver()
        if match.moves:
            self.saver.own(match)
        self.analyst = LockedPlayer(Analyst())  #: the player that gives hints

    @property
    def player_to_move(self) -> LockedPlayer | None:
        """The player to move, or None if it is a human."""
        return self.seats[self.match.position.player]

    @property
    def humans(self) -> set[int]:
        """The seats of the human players: 0 for first, 1 for second."""
        return {seat for seat, spec in enumerate(self.players) if spec == HUMAN}

    @property
    def title(self) -> str:
        """A line with the game, the players and, if a human plays, how to type a move."""
        names = [YOU if name == HUMAN and len(self.humans) == 1 else name for name in self.players]
        sides = " against ".join(
            f"{escape_controls(name)} ({symbol})"
            for name, symbol in zip(names, self.match.game.symbols, strict=True)
        )
        move_forms = f"\nMoves: {self.match.game.move_forms}. Type help for more."
        spec = escape_controls(self.match.game.spec)
        return f"{spec}: {sides}.{move_forms if self.humans else ''}\n"

    @property
    def board(self) -> str:
        """The board as text; if switched on and if there is room, empty cells show what to type.

        Moves that no empty cell can show, because a piece moves or there is no grid, are listed.
        """
        options, position = self.options, self.match.position
        lines = position.to_text(hints=options.indices).splitlines()
        columns = shutil.get_terminal_size().columns
        fits = max(map(len, lines), default=0) <= columns
        text = position.to_text(hints=options.indices and fits, colour=options.colour) + "\n"
        moves = _moves_without_hints(position) if options.indices else []
        if moves:
            text += textwrap.fill(f"Moves: {' '.join(moves)}", columns) + "\n"
        return text

    def side_names(self, position: Position) -> tuple[str, str]:
        """Return names for the side to move and the other side."""
        return texts.side_names(self.match.game.symbols, self.players, position.player)

    def seat_players(self, players: tuple[str, str]) -> None:
        """Replace the players. Raise BadSpec, and change nothing, if one cannot play the game."""
        self.seats, self.players = load_seats(self.match.game, players), players

    def load(self, match: Match, players: tuple[str, str], *, is_named: bool) -> None:
        """Replace the match with a saved one. Raise BadSpec if a player cannot play the game."""
        self.seats = load_seats(match.game, players)
        self.match, self.players = match, players
        if is_named:
            self.saver.disown(match)
        else:
            self.saver.own(match)

    def save(self, name: str = "") -> str:
        """Save the match; return a message on how to continue it. Raise ZermeloError on failure."""
        return self.saver.save(self.match, self.players, name)


def _moves_without_hints(position: Position) -> list[str]:
    """Return the legal moves that are not named by the empty cell that they fill."""
    cells = moves_by_cell(position)
    return list(cells.sources if position.game.grid else cells.extra)
