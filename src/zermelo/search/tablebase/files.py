"""Files of tables: sorted keys with their codes, in a format that is checked throughout.

A file, with all numbers little-endian, is

    magic      14 bytes: "zermelo table" and a newline
    version     2 bytes
    length      4 bytes: of the header
    header     JSON: the game's spec, a digest of its rules, the payload's measures and digest
    payload    zlib: a column of keys (uint64) for each word of a state, then the codes (int16)

with the states in rising order. A column lies in planes, first the lowest byte of every number,
which packs it several times smaller. Nothing in a file is trusted: see `read`.
"""

import hashlib
import json
import os
import re
import struct
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, NoReturn

from zermelo.core import home
from zermelo.core.errors import ZermeloError
from zermelo.core.files import write_atomically

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_STATES = 20_000_000  #: of one table
_MAGIC, _VERSION = b"zermelo table\n", 1
_PREFIX = struct.Struct("<14sHI")
_MAX_HEADER = 1 << 14
_KEY, _CODE = "<u8", "<i2"
_LEVEL = 6  # of compression


class BadTable(ZermeloError):
    """A file that is no table of this game: damaged, foreign, or of other rules."""


def path_of(spec: str, rules: str) -> Path:
    """Where the table of a game with rules of this digest belongs."""
    digest = hashlib.sha256(f"{spec}\n{rules}".encode()).hexdigest()
    return _folder() / f"{_readable(spec)}-{digest[:12]}.table"


def may_exist(spec: str) -> bool:
    """Whether a table is called like the game, of whatever rules."""
    try:
        return any(path.name.startswith(f"{_readable(spec)}-") for path in _folder().iterdir())
    except OSError:
        return False


def _folder() -> Path:
    return home.cache_folder() / "tables"


def _readable(spec: str) -> str:
    """A spec as the beginning of a file's name."""
    return re.sub(r"[^a-z0-9.]+", "-", spec.lower())[-40:].strip("-.") or "game"


class _Header(NamedTuple):
    spec: str
    rules: str  # their digest
    states: int
    words: int
    bytes: int  # of the payload
    sha256: str  # of the payload


def write(path: Path, spec: str, rules: str, keys: "NDArray[Any]", codes: "NDArray[Any]") -> None:
    """Keep keys [word, state], in rising order, and codes [state]; whole or not at all."""
    planes = [_to_planes(column, _KEY) for column in keys]
    payload = zlib.compress(b"".join([*planes, _to_planes(codes, _CODE)]), _LEVEL)
    digest = hashlib.sha256(payload).hexdigest()
    head = _Header(spec, rules, len(codes), len(keys), len(payload), digest)
    text = json.dumps(head._asdict(), separators=(",", ":")).encode()
    if len(text) > _MAX_HEADER:
        msg = f"the spec of {spec[:40]}… is too long for a table's header"
        raise ZermeloError(msg)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    parts = (_PREFIX.pack(_MAGIC, _VERSION, len(text)), text, payload)
    write_atomically(path, parts, durable=True)


def read(
    path: Path, spec: str, rules: str, num_words: int, kind: str = "table"
) -> tuple["NDArray[Any]", "NDArray[Any]"]:
    """Keys and codes as `write` took them; BadTable says what is wrong with a file."""
    try:
        if path.exists() and not path.is_file():
            _refuse("it is no file")
        with path.open("rb") as file:
            head = _read_header(file)
            _check(head, spec, rules, num_words)
            _check_size(file, head)
            return _read_payload(file, head)
    except BadTable as error:
        msg = f"{path} is no {kind} of {spec}: {error}"
        raise BadTable(msg) from None
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror}"
        raise BadTable(msg) from None


def _refuse(what: str) -> NoReturn:
    raise BadTable(what)


def _read_header(file: IO[bytes]) -> _Header:
    prefix = file.read(_PREFIX.size)
    if len(prefix) < _PREFIX.size or not prefix.startswith(_MAGIC):
        _refuse("it does not begin as one")
    _, version, length = _PREFIX.unpack(prefix)
    if version != _VERSION:
        _refuse(f"its version is {version}, not {_VERSION}")
    if length > _MAX_HEADER:
        _refuse(f"its header has {length:,} bytes, more than {_MAX_HEADER:,}")
    try:
        data = json.loads(file.read(length).decode())
    except (ValueError, RecursionError):
        data = None
    kinds = _Header.__annotations__
    if not isinstance(data, dict) or {k: type(v) for k, v in data.items()} != kinds:
        _refuse("its header is damaged")
    return _Header(**data)


def _check(head: _Header, spec: str, rules: str, num_words: int) -> None:
    """Whether it is the table that is asked for."""
    if head.spec != spec:
        _refuse(f"it is of {head.spec[:80]!r}")
    if head.rules != rules:
        _refuse("it was made with other rules")
    if head.words != num_words or not 1 <= head.states <= MAX_STATES:
        _refuse(f"its header tells of {head.states} states of {head.words} words")


def _check_size(file: IO[bytes], head: _Header) -> None:
    """After this nothing that remains to be read can be too large."""
    begin, size = file.tell(), os.fstat(file.fileno()).st_size
    if not 1 <= head.bytes <= _raw_size(head) * 2 or size != begin + head.bytes:
        _refuse(f"it has {size:,} bytes, not {begin + head.bytes:,}")


def _raw_size(head: _Header) -> int:
    return head.states * (8 * head.words + 2)


def _read_payload(file: IO[bytes], head: _Header) -> tuple["NDArray[Any]", "NDArray[Any]"]:
    """Keys and codes, in order."""
    import numpy as np

    payload = file.read(head.bytes)
    if hashlib.sha256(payload).hexdigest() != head.sha256:
        _refuse("its contents are damaged")
    size, inflater = _raw_size(head), zlib.decompressobj()
    try:
        raw = inflater.decompress(payload, size + 1)
    except zlib.error:
        raw = b""
    if len(raw) != size or not inflater.eof or inflater.unused_data:
        _refuse(f"its contents do not make {head.states:,} states")
    split = 8 * head.states
    keys = np.empty((head.words, head.states), np.uint64)
    for column in range(head.words):
        keys[column] = _from_planes(raw[split * column : split * (column + 1)], _KEY)
    if not _is_rising(keys):
        _refuse("its states are out of order")
    return keys, _from_planes(raw[split * head.words :], _CODE).astype(np.int16)


def _is_rising(keys: "NDArray[Any]") -> bool:
    """Whether each state is above the one before it."""
    import numpy as np

    rising = np.zeros(keys.shape[1] - 1, np.bool_)
    for column in keys[::-1]:
        before, after = column[:-1], column[1:]
        rising = (before < after) | ((before == after) & rising)
    return bool(rising.all())


def _to_planes(column: "NDArray[Any]", kind: str) -> bytes:
    """The lowest bytes of all numbers, then the next ones."""
    import numpy as np

    flat = np.ascontiguousarray(column.astype(kind)).view(np.uint8)
    return flat.reshape(len(column), -1).T.tobytes()


def _from_planes(data: bytes, kind: str) -> "NDArray[Any]":
    import numpy as np

    flat = np.frombuffer(data, np.uint8).reshape(np.dtype(kind).itemsize, -1)
    return np.ascontiguousarray(flat.T).view(kind).ravel()
