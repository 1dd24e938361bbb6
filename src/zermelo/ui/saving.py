"""Saving of matches when people leave, for every screen."""

from zermelo.core.errors import ZermeloError
from zermelo.matches import saves
from zermelo.matches.match import Match


class MatchSaver:
    """Saves unfinished matches, and deletes the saves of matches that have been finished.

    A save on disk that does not belong to a match of this screen is left alone unless that match
    has moves of its own.
    """

    def __init__(self) -> None:
        self._own_saves: set[str] = set()  # games whose save belongs to a match of this screen

    def own(self, match: Match) -> None:
        """Note that the save of this game belongs to this match."""
        self._own_saves.add(match.game.spec)

    def disown(self, match: Match) -> None:
        """Note that the save of this game belongs to another match."""
        self._own_saves.discard(match.game.spec)

    def save(self, match: Match, players: tuple[str, str], name: str = "") -> str:
        """Save a match, by default for --resume; return a message that says how to continue it.

        Raise ZermeloError with the moves of the match if it cannot be saved.
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
        """Save a match that is unfinished, or delete the save of one that is over.

        Return a message that says how to continue, or "" if there is nothing to continue.
        """
        is_own = match.game.spec in self._own_saves
        if match.outcome is None and (match.moves or is_own):
            return self.save(match, players)
        if match.outcome is not None and is_own:
            saves.delete(match.game.spec)
        return ""
