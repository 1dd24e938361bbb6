"""Weights files: safetensors with metadata in JSON. Loading a file executes no code from the file.

The metadata contains the name of the game, a fingerprint of its rules, the encoder and the network.
Code that loads a file checks these first.

Two SHA-256 digests precede the JSON: one of the file's header (computed with zeros in place of this
digest) and one of the data after the header. So the metadata can be checked without reading the
data, and a file in which a bit has flipped is refused. Files of earlier versions have no digests.
"""

import contextlib
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from zermelo.core.errors import ZermeloError
from zermelo.core.files import write_atomically

Array = np.ndarray
Arrays = dict[str, Array]  #: arrays by name: weights, a checkpoint or a rollout
MAX_BYTES = 1 << 30
PLAYS = "plays."  #: prefix of those arrays in a checkpoint that are needed for play
_KEY = "zermelo 2"  # key of our digests and JSON in the safetensors metadata
_OLD_KEY = "zermelo"  # key of our JSON in files of earlier versions, which have no digests
_LENGTH_BYTES = 8  # a file begins with the length of its header, in this many bytes
_MAX_HEADER = 100 << 20  # maximum size of a header, as in safetensors
_DIGITS = 64  # number of hexadecimal digits of a digest
_DIGESTS = re.compile(rb'"%s":"([0-9a-f]{64}) ([0-9a-f]{64}) ' % _KEY.encode())


class BadWeights(ZermeloError):
    """Raised when a weights file cannot be used; the message gives the reason."""


def write(path: Path, arrays: Arrays, metadata: dict[str, Any]) -> None:
    """Write a weights file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    zeros = "0" * _DIGITS
    text = f"{zeros} {zeros} {json.dumps(metadata, allow_nan=False)}"
    content = save(arrays, metadata={_KEY: text})
    size = _LENGTH_BYTES + int.from_bytes(content[:_LENGTH_BYTES], "little")
    header, data = bytearray(content[:size]), content[size:]
    place = _DIGESTS.search(header)
    assert place is not None
    header[place.start(2) : place.end(2)] = hashlib.sha256(data).hexdigest().encode()
    header[place.start(1) : place.end(1)] = hashlib.sha256(header).hexdigest().encode()
    write_atomically(path, (bytes(header), data), durable=True, mode=0o644)


def read(
    path: Path, max_bytes: int = MAX_BYTES, *, only_play: bool = False
) -> tuple[Arrays, dict[str, Any]]:
    """Return (arrays, metadata); raise BadWeights if the file is not a valid weights file.

    With `only_play`, return only those arrays of a checkpoint whose names begin with `PLAYS`.
    """
    with _open(path, max_bytes, check_data=True) as (file, metadata):
        prefix = PLAYS if only_play and metadata.get("plays") else ""
        names = [name for name in file.keys() if name.startswith(prefix)]  # noqa: SIM118
        return {name.removeprefix(prefix): file.get_tensor(name) for name in names}, metadata


def read_metadata(path: Path) -> dict[str, Any]:
    """Return the metadata of a file without reading its arrays."""
    with _open(path, MAX_BYTES, check_data=False) as (_, metadata):
        return metadata


def has_digests(path: Path) -> bool:
    """Return whether a valid weights file has digests; files of earlier versions have none."""
    with path.open("rb") as file:
        return _DIGESTS.search(_read_header(file)) is not None


@contextlib.contextmanager
def _open(path: Path, max_bytes: int, *, check_data: bool) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Open and check a file, and yield (file, metadata); raise BadWeights if it is not valid."""
    try:
        _check_size(path, max_bytes)
        is_checked = _check_digests(path, check_data=check_data)
        with safe_open(path, framework="numpy") as file:
            yield file, _parse_metadata(path, file.metadata() or {}, is_checked=is_checked)
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


def _check_size(path: Path, max_bytes: int) -> None:
    if path.stat().st_size > max_bytes:
        msg = f"{path} is larger than {max_bytes >> 20} MB, the limit for a weights file"
        raise BadWeights(msg)


def _check_digests(path: Path, *, check_data: bool) -> bool:
    """Return whether the file has digests; raise BadWeights if its contents do not match them."""
    with path.open("rb") as file:
        header = _read_header(file)
        place = _DIGESTS.search(header)
        if place is None:
            return False
        expected = place[1].decode(), place[2].decode()
        header[place.start(1) : place.end(1)] = b"0" * _DIGITS
        is_intact = hashlib.sha256(header).hexdigest() == expected[0]
        if is_intact and check_data:
            is_intact = hashlib.file_digest(file, "sha256").hexdigest() == expected[1]
    if not is_intact:
        msg = f"{path} is damaged or not a weights file: it does not match its checksum"
        raise BadWeights(msg)
    return True


def _read_header(file: IO[bytes]) -> bytearray:
    """Return the header with which a file begins: its length, then its JSON."""
    length = file.read(_LENGTH_BYTES)
    size = int.from_bytes(length, "little")
    return bytearray(length + (file.read(size) if size <= _MAX_HEADER else b""))


def _parse_metadata(path: Path, fields: dict[str, str], *, is_checked: bool) -> dict[str, Any]:
    text = fields[_KEY][2 * (_DIGITS + 1) :] if is_checked else fields.get(_OLD_KEY, "null")
    metadata = json.loads(text)
    if not isinstance(metadata, dict):
        msg = f"{path} holds weights, but not those of a zermelo model"
        raise BadWeights(msg)
    return metadata
