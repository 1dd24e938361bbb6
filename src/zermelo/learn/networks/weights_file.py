"""Weights on disk: safetensors with JSON beside them. Nothing here is ever executed.

A file says for which game and rules it was made, how its states are encoded and what the network
looks like; whoever loads it checks that first.
"""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from zermelo.core.errors import ZermeloError
from zermelo.core.files import write_atomically

Arrays = dict[str, np.ndarray]  #: by name: weights, a checkpoint or a rollout
MAX_BYTES = 1 << 30
PLAYS = "plays."  #: before the names of those arrays of a checkpoint that play
_KEY = "zermelo"  # of our JSON in the file's own metadata


class BadWeights(ZermeloError):
    """A file that cannot be used, with what is wrong with it."""


def write(path: Path, arrays: Arrays, about: dict[str, Any]) -> None:
    """The file appears whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = save(arrays, metadata={_KEY: json.dumps(about)})
    write_atomically(path, data, durable=True, mode=0o644)


def read(
    path: Path, max_bytes: int = MAX_BYTES, *, playing: bool = False
) -> tuple[Arrays, dict[str, Any]]:
    """(arrays, what the file says about itself); BadWeights when it is none of ours.

    `playing`: only the arrays that play, which in a checkpoint stand under `PLAYS`.
    """
    with _opened(path, max_bytes) as (file, about):
        prefix = PLAYS if playing and about.get("plays") else ""
        names = [name for name in file.keys() if name.startswith(prefix)]  # noqa: SIM118
        return {name.removeprefix(prefix): file.get_tensor(name) for name in names}, about


def read_about(path: Path) -> dict[str, Any]:
    """What a file says about itself, without its arrays."""
    with _opened(path, MAX_BYTES) as (_, about):
        return about


@contextlib.contextmanager
def _opened(path: Path, max_bytes: int) -> Iterator[tuple[Any, dict[str, Any]]]:
    """A file of ours; whatever is wrong with it, in one line."""
    try:
        size = path.stat().st_size
        with safe_open(path, framework="numpy") as file:
            about = json.loads((file.metadata() or {}).get(_KEY, "null"))
            yield file, _checked(path, size, about, max_bytes)
    except BadWeights:
        raise
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror or error}"
        raise BadWeights(msg) from None
    # Of kinds of numbers that numpy lacks safetensors knows more than it can give.
    except (SafetensorError, ValueError, TypeError, LookupError, AttributeError) as error:
        msg = f"{path} is damaged, or no file of weights: {error}"
        raise BadWeights(msg) from None
    except RecursionError:
        msg = f"{path} is damaged, or no file of weights"
        raise BadWeights(msg) from None


def _checked(path: Path, size: int, about: Any, max_bytes: int) -> dict[str, Any]:
    if size > max_bytes:
        msg = f"{path} is larger than {max_bytes >> 20} MB: no such file of weights is"
        raise BadWeights(msg)
    if not isinstance(about, dict):
        msg = f"{path} holds weights, but not of ours"
        raise BadWeights(msg)
    return about
