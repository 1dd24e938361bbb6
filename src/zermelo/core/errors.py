"""Errors caused by input: each message says in one line what is wrong and what is accepted."""


class ZermeloError(ValueError):
    """Raised when input cannot be used; commands print the message and exit with code 2."""


class BadSpec(ZermeloError):
    """Raised when a game or player is unknown, or does not accept the given parameters."""


class BadMove(ZermeloError):
    """Raised when a text is not a move of the game at all, legal or illegal."""


class IllegalMove(BadMove):
    """Raised when a move of the game is not legal in the current position."""


class BadBoard(ZermeloError):
    """Raised when a text or cells are not a board, or when play cannot reach the board."""


class TooLarge(ZermeloError):
    """Raised when a computation would exceed the limits on memory or time."""


class BadRecord(ZermeloError):
    """Raised when a record breaks its format or the rules; the message gives line and reason."""


class KernelError(ZermeloError):
    """Raised when rules or a kernel cannot be compiled; the message names the cause."""
