"""Errors caused by input: each message says in one line what is wrong and what would be right."""


class ZermeloError(ValueError):
    """Input that cannot be used; commands print the message and exit with code 2."""


class BadSpec(ZermeloError):
    """An unknown game or player, or parameters that it does not accept."""


class BadMove(ZermeloError):
    """Text that is not a move of the game at all."""


class IllegalMove(BadMove):
    """A move of the game that is not legal in this position."""


class BadBoard(ZermeloError):
    """Text or cells that are not a board, or a board that play cannot reach."""


class TooLarge(ZermeloError):
    """A question whose answer would exceed the limits on memory or time."""


class BadRecord(ZermeloError):
    """A record that breaks its format or the rules, with the line and the reason."""


class KernelError(ZermeloError):
    """Raised when rules or a kernel cannot be compiled; the message names the cause."""
