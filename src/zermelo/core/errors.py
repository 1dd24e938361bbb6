"""Errors: each says what was wrong, where, and what would be right, in one line."""


class ZermeloError(ValueError):
    """Something from outside that cannot be used: commands answer with exit code 2."""


class BadSpec(ZermeloError):
    """A game or player that does not exist, or parameters it cannot have."""


class BadMove(ZermeloError):
    """A text that names no move of the game at all."""


class IllegalMove(BadMove):
    """A move of the game that is not legal in this position."""


class BadBoard(ZermeloError):
    """A board that is not one, or that cannot arise in play."""


class TooLarge(ZermeloError):
    """A question whose answer would take more memory or time than is allowed."""


class BadRecord(ZermeloError):
    """A record that breaks its format or the rules, with the line and the reason."""
