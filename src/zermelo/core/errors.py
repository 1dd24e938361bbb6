"""Errors caused by input: each message says in one line what is wrong and what is accepted."""

import importlib
from typing import Any


class ZermeloError(ValueError):
    """Raised when input cannot be used; commands print the message and exit with code 2."""


class BadSpec(ZermeloError):
    """Raised when a game or player is unknown, or does not accept the given parameters."""


class BadMove(ZermeloError):
    """Raised when a text does not name any action of the game, not even an illegal one."""


class IllegalMove(BadMove):
    """Raised when a text names a move of the game that is not legal in this position."""


class BadBoard(ZermeloError):
    """Raised when the input is not a board, or is a board that legal moves cannot reach."""


class TooLarge(ZermeloError):
    """Raised when a computation would exceed the limits on memory or time."""


class BadRecord(ZermeloError):
    """Raised when a game record breaks its format or the rules; the message names the line."""


class KernelError(ZermeloError):
    """Raised when rules or a kernel cannot be compiled; the message names the cause."""


class MissingPackage(ZermeloError):
    """Raised when a function needs an optional package that is not installed."""


def import_package(name: str, purpose: str) -> Any:
    """Import an optional package; raise MissingPackage if it is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        msg = f"{purpose} needs {name}: pip install {name}"
        raise MissingPackage(msg) from None
