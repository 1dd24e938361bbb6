"""The file format of tablebases and opening books: sorted states with their scores.

All numbers are little-endian:

    magic      14 bytes: "zermelo table" and a newline
    version     2 bytes
    length      4 bytes: of the header
    header     JSON: the game and its rules, the size and the digest of the payload
    payload    zlib: a column of keys (uint64) for each word of a state, then the codes (int16)

A code is an encoded score: see `tablebase`. The states are in ascending order. A column is stored
in byte planes, the lowest byte of every number first, which compresses several times better. `read`
checks everything in a file.
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
from zermelo.core.game import WordGame
from zermelo.core.game.fingerprint import rules_fingerprint, source_digest

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_STATES = 20_000_000  #: the maximum number of states in one file
_MAGIC = b"zermelo table\n"
_VERSION = 2  # increase it if the format changes, or if scores change for unchanged rules
_PREFIX = struct.Struct("<14sHI")
_MAX_HEADER = 1 << 14
_KEY, _CODE = "<u8", "<i2"
_COMPRESSION_LEVEL = 6


class BadTablebase(ZermeloError):
    """Raised when a file is not a tablebase or book of the game, or is damaged."""


class GameIdentity(NamedTuple):
    """The data that distinguishes the files of different games."""

    spec: str
    rules: str  #: fingerprint of the rules
    source: str  #: digest of the game's source file; "" for built-in games

    @classmethod
    def of(cls, game: WordGame) -> "GameIdentity":
        """Return the identity of a game."""
        return cls(game.spec, rules_fingerprint(game), source_digest(game))

    @property
    def digest(self) -> str:
        """A short digest for file names."""
        return hashlib.sha256("\n".join(self).encode()).hexdigest()[:12]


def tablebase_path(game: WordGame) -> Path:
    """Return the path of a game's tablebase, which depends on the rules of the game."""
    return _folder() / f"{_file_stem(game.spec)}-{GameIdentity.of(game).digest}.table"


def has_candidates(spec: str) -> bool:
    """Return whether a tablebase for this spec exists, even if it was built with other rules."""
    try:
        return any(path.name.startswith(f"{_file_stem(spec)}-") for path in _folder().iterdir())
    except OSError:
        return False


def _folder() -> Path:
    return home.cache_folder() / "tables"


def _file_stem(spec: str) -> str:
    """Return the beginning of the file name for a spec."""
    return re.sub(r"[^a-z0-9.]+", "-", spec.lower())[-40:].strip("-.") or "game"


class _Header(NamedTuple):
    spec: str
    rules: str
    source: str
    states: int
    words: int
    bytes: int  # of the payload
    sha256: str  # of the payload

    @property
    def identity(self) -> GameIdentity:
        return GameIdentity(self.spec, self.rules, self.source)

    @property
    def raw_size(self) -> int:
        """The size of the decompressed payload."""
        return self.states * (8 * self.words + 2)


def write(path: Path, game: WordGame, keys: "NDArray[Any]", codes: "NDArray[Any]") -> None:
    """Write a file atomically, with keys [word, state] in ascending order and codes [state].

    Create the folder if necessary. Raise OSError if the file cannot be written.
    """
    planes = [_to_planes(column, _KEY) for column in keys]
    payload = zlib.compress(b"".join([*planes, _to_planes(codes, _CODE)]), _COMPRESSION_LEVEL)
    digest = hashlib.sha256(payload).hexdigest()
    header = _Header(*GameIdentity.of(game), len(codes), len(keys), len(payload), digest)
    text = json.dumps(header._asdict(), separators=(",", ":")).encode()
    if len(text) > _MAX_HEADER:
        msg = f"the spec {game.spec[:40]}… is too long for the header of a tablebase"
        raise ZermeloError(msg)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    parts = (_PREFIX.pack(_MAGIC, _VERSION, len(text)), text, payload)
    write_atomically(path, parts, durable=True)


def read(
    path: Path, game: WordGame, kind: str = "tablebase"
) -> tuple["NDArray[Any]", "NDArray[Any]"]:
    """Read a file and return its keys and codes; raise BadTablebase if the file is invalid."""
    try:
        if path.exists() and not path.is_file():
            _refuse("it is not a file")
        with path.open("rb") as file:
            header = _read_header(file)
            _check_identity(header, game)
            _check_size(file, header)
            return _read_payload(file, header)
    except BadTablebase as error:
        msg = f"{path} is not a {kind} of {game.spec}: {error}"
        raise BadTablebase(msg) from None
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror}"
        raise BadTablebase(msg) from None


def _refuse(reason: str) -> NoReturn:
    raise BadTablebase(reason)


def _read_header(file: IO[bytes]) -> _Header:
    prefix = file.read(_PREFIX.size)
    if len(prefix) < _PREFIX.size or not prefix.startswith(_MAGIC):
        _refuse("its first bytes are wrong")
    _, version, length = _PREFIX.unpack(prefix)
    if version != _VERSION:
        _refuse(f"its version is {version}, not {_VERSION}")
    if length > _MAX_HEADER:
        _refuse(f"its header has {length:,} bytes, more than {_MAX_HEADER:,}")
    try:
        fields = json.loads(file.read(length).decode())
    except (ValueError, RecursionError):
        fields = None
    types = _Header.__annotations__
    if not isinstance(fields, dict) or {k: type(v) for k, v in fields.items()} != types:
        _refuse("its header is damaged")
    return _Header(**fields)


def _check_identity(header: _Header, game: WordGame) -> None:
    """Refuse a file of another game or of other rules."""
    if header.spec != game.spec:
        _refuse(f"it belongs to {header.spec[:80]!r}")
    if header.identity != GameIdentity.of(game):
        _refuse("it was built with other rules")
    if header.words != game.num_words or not 1 <= header.states <= MAX_STATES:
        _refuse(f"its header claims {header.states} states of {header.words} words")


def _check_size(file: IO[bytes], header: _Header) -> None:
    """Refuse a file whose size does not match its header, before its payload is read."""
    begin, size = file.tell(), os.fstat(file.fileno()).st_size
    if not 1 <= header.bytes <= header.raw_size * 2 or size != begin + header.bytes:
        _refuse(f"it has {size:,} bytes, not {begin + header.bytes:,}")


def _read_payload(file: IO[bytes], header: _Header) -> tuple["NDArray[Any]", "NDArray[Any]"]:
    import numpy as np

    payload = file.read(header.bytes)
    if hashlib.sha256(payload).hexdigest() != header.sha256:
        _refuse("its contents are damaged")
    size, inflater = header.raw_size, zlib.decompressobj()
    try:
        raw = inflater.decompress(payload, size + 1)
    except zlib.error:
        raw = b""
    if len(raw) != size or not inflater.eof or inflater.unused_data:
        _refuse(f"its contents are not {header.states:,} states")
    column_size = 8 * header.states
    keys = np.empty((header.words, header.states), np.uint64)
    for column in range(header.words):
        keys[column] = _from_planes(raw[column_size * column : column_size * (column + 1)], _KEY)
    if not _is_ascending(keys):
        _refuse("its states are out of order")
    return keys, _from_planes(raw[column_size * header.words :], _CODE).astype(np.int16)


def _is_ascending(keys: "NDArray[Any]") -> bool:
    """Return whether each state is greater than the one before it."""
    import numpy as np

    is_greater = np.zeros(keys.shape[1] - 1, np.bool_)
    for column in keys[::-1]:
        before, after = column[:-1], column[1:]
        is_greater = (before < after) | ((before == after) & is_greater)
    return bool(is_greater.all())


def _to_planes(column: "NDArray[Any]", dtype: str) -> bytes:
    """Return the lowest bytes of all numbers, then the next bytes, and so on."""
    import numpy as np

    flat = np.ascontiguousarray(column.astype(dtype)).view(np.uint8)
    return flat.reshape(len(column), -1).T.tobytes()


def _from_planes(data: bytes, dtype: str) -> "NDArray[Any]":
    import numpy as np

    flat = np.frombuffer(data, np.uint8).reshape(np.dtype(dtype).itemsize, -1)
    return np.ascontiguousarray(flat.T).view(dtype).ravel()
