"""Weights files: safetensors with metadata in JSON. Loading a file executes no code from the file.

The metadata contains the name of the game, a fingerprint of its rules, the encoder and the network.
Code that loads a file checks these first.
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

Array = np.ndarray
Arrays = dict[str, Array]  #: arrays by name: weights, a checkpoint or a rollout
MAX_BYTES = 1 << 30
PLAYS = "plays."  #: prefix of those arrays in a checkpoint that are needed for play
_KEY = "zermelo"  # key of our JSON in the safetensors metadata


class BadWeights(ZermeloError):
    """Raised when a weights file cannot be used; the message gives the reason."""


def write(path: Path, arrays: Arrays, metadata: dict[str, Any]) -> None:
    """Write a weights file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = save(arrays, metadata={_KEY: json.dumps(metadata)})
    write_atomically(path, data, durable=True, mode=0o644)


def read(
    path: Path, max_bytes: int = MAX_BYTES, *, only_play: bool = False
) -> tuple[Arrays, dict[str, Any]]:
    """Return (arrays, metadata); raise BadWeights if the file is not a valid weights file.

    With `only_play`, return only those arrays of a checkpoint whose names begin with `PLAYS`.
    """
    with _open(path, max_bytes) as (file, metadata):
        prefix = PLAYS if only_play and metadata.get("plays") else ""
        names = [name for name in file.keys() if name.startswith(prefix)]  # noqa: SIM118
        return {name.removeprefix(prefix): file.get_tensor(name) for name in names}, metadata


def read_metadata(path: Path) -> dict[str, Any]:
    """Return the metadata of a file without reading its arrays."""
    with _open(path, MAX_BYTES) as (_, metadata):
        return metadata


@contextlib.contextmanager
def _open(path: Path, max_bytes: int) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Open a file and check its metadata; raise BadWeights with a one-line message if it fails."""
    try:
        size = path.stat().st_size
        with safe_open(path, framework="numpy") as file:
            metadata = json.loads((file.metadata() or {}).get(_KEY, "null"))
            _check(path, size, metadata, max_bytes)
            yield file, metadata
    except BadWeights:
        raise
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror or error}"
        raise BadWeights(msg) from None
    # Safetensors supports number formats that numpy lacks, and raises several kinds of errors.
    except (SafetensorError, ValueError, TypeError, LookupError, AttributeError) as error:
        msg = f"{path} is damaged or not a weights file: {error}"
        raise BadWeights(msg) from None
    except RecursionError:
        msg = f"{path} is damaged or not a weights file"
        raise BadWeights(msg) from None


def _check(path: Path, size: int, metadata: object, max_bytes: int) -> None:
    if size > max_bytes:
        msg = f"{path} is larger than {max_bytes >> 20} MB, the limit for a weights file"
        raise BadWeights(msg)
    if not isinstance(metadata, dict):
        msg = f"{path} holds weights, but not those of a zermelo model"
        raise BadWeights(msg)
