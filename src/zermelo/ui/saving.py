"""Saving matches when the human leaves, for every user interface."""

from zermelo.core.errors import ZermeloError
from zermelo.matches import saves
from zermelo.matches.match import Match


class MatchSaver:
    """Saves unfinished matches, and deletes the saves of matches that have been finished.

    Each game has at most one unnamed save. A save of an earlier match is replaced only once the
    current match of the same game has moves.
    """

    def __init__(self) -> None:
        # The specs of the games whose unnamed save belongs to a match played on this screen.
        self._own_saves: set[str] = set()

    def own(self, match: Match) -> None:
        """Note that the unnamed save of this match's game belongs to this match."""
        self._own_saves.add(match.game.spec)

    def disown(self, match: Match) -> None:
        """Note that the unnamed save of this match's game belongs to another match."""
        self._own_saves.discard(match.game.spec)

    def save(self, match: Match, players: tuple[str, str], name: str = "") -> str:
        """Save a match, under a name or for `--resume`; return a message on how to continue it.

        If the match cannot be saved, raise a ZermeloError that contains its moves.
        """
        save = saves.Save(match.game.spec, *players, tuple(match.moves))
        try:
            saves.write(save, name)
        except OSError as error:
            moves = " ".join(save.moves)
            msg = f"the game could not be saved ({error.strerror}); its moves: {moves}"
            raise ZermeloError(msg) from None
        if name:
            return f"Saved as {name}. To continue it, type load {name}."
        self.own(match)
        return f"Game saved. Continue it with: {save.resume_command()}"

    def leave(self, match: Match, players: tuple[str, str]) -> str:
        """Save a match if it is unfinished, or delete its save if it is over.

        Return a message that says how to continue, or "" if there is nothing to continue.
        """
        is_own = match.game.spec in self._own_saves
        if match.outcome is None and (match.moves or is_own):
            return self.save(match, players)
        if match.outcome is not None and is_own:
            saves.delete(match.game.spec)
        return ""
