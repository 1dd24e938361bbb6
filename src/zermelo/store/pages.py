"""Read rows directly from the pages of an SQLite file, without its schema and its B-trees.

SQLite cannot read a table whose root is damaged. The pages with the rows themselves may be intact,
and this module decodes them one by one, as described in https://sqlite.org/fileformat2.html. It
does not know to which table a row belongs, and may find rows that have been deleted.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

Value = None | int | float | str | bytes

_MAGIC = b"SQLite format 3\0"
_DEFAULT_PAGE_SIZE = 4096
_FILE_HEADER, _LOG_HEADER, _FRAME_HEADER = 100, 32, 24  # bytes
_TABLE_LEAF, _INDEX_LEAF, _INDEX_INTERIOR = 13, 10, 2  # kinds of pages that contain rows
_INT_SIZES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}  # by serial type
_FLOAT, _ZERO, _ONE, _FIRST_BLOB = 7, 8, 9, 12  # serial types


class RawRow(NamedTuple):
    """The values of a row, and its rowid (None in a table without rowids)."""

    rowid: int | None
    values: tuple[Value, ...]


def read_rows(data: bytes, log: bytes = b"") -> Iterator[RawRow]:
    """Yield the rows in a file and its write-ahead log; skip what cannot be decoded."""
    size = _page_size(data)
    reserved = data[20] if data.startswith(_MAGIC) else 0
    pages = _split_pages(data, log, size)
    for number, page in pages.items():
        yield from _Page(page, number, size - reserved, pages).rows()


def _page_size(data: bytes) -> int:
    if not data.startswith(_MAGIC) or len(data) < _FILE_HEADER:
        return _DEFAULT_PAGE_SIZE
    size = int.from_bytes(data[16:18], "big")
    size = 1 << 16 if size == 1 else size
    is_valid = 512 <= size <= 1 << 16 and size & (size - 1) == 0
    return size if is_valid else _DEFAULT_PAGE_SIZE


def _split_pages(data: bytes, log: bytes, size: int) -> dict[int, bytes]:
    """Return the pages by number; those in the log replace older ones."""
    pages = {1 + n // size: data[n : n + size] for n in range(0, len(data), size)}
    salts = log[16:24]
    for begin in range(_LOG_HEADER, len(log), _FRAME_HEADER + size):
        header = log[begin : begin + _FRAME_HEADER]
        page = log[begin + _FRAME_HEADER : begin + _FRAME_HEADER + size]
        if header[8:16] == salts and len(page) == size:
            pages[int.from_bytes(header[:4], "big")] = page
    return pages


class _Page:
    """A page of a table or index; `usable` is the number of its bytes that SQLite uses."""

    def __init__(self, data: bytes, number: int, usable: int, pages: dict[int, bytes]) -> None:
        self.data, self.usable, self.pages = data, usable, pages
        self.begin = _FILE_HEADER if number == 1 else 0

    def rows(self) -> Iterator[RawRow]:
        """Yield the rows in this page; a page of another kind has none."""
        header = self.data[self.begin : self.begin + 8]
        kind = header[0] if len(header) == 8 else 0
        if kind not in (_TABLE_LEAF, _INDEX_LEAF, _INDEX_INTERIOR):
            return
        pointers = self.begin + (12 if kind == _INDEX_INTERIOR else 8)
        for number in range(int.from_bytes(header[3:5], "big")):
            place = pointers + 2 * number
            try:
                yield self._row(int.from_bytes(self.data[place : place + 2], "big"), kind)
            except (IndexError, LookupError, ValueError, struct.error):
                continue  # this row is damaged

    def _row(self, place: int, kind: int) -> RawRow:
        if kind == _INDEX_INTERIOR:
            place += 4  # the number of a child page
        size, place = _read_varint(self.data, place)
        rowid = None
        if kind == _TABLE_LEAF:
            rowid, place = _read_varint(self.data, place)
            rowid -= (rowid >> 63) << 64
        return RawRow(rowid, _decode_record(self._payload(place, size, kind)))

    def _payload(self, place: int, size: int, kind: int) -> bytes:
        """Return the bytes of a row; a long row continues in other pages."""
        usable = self.usable
        most = usable - 35 if kind == _TABLE_LEAF else (usable - 12) * 64 // 255 - 23
        if size <= most:
            return self.data[place : place + size]
        least = (usable - 12) * 32 // 255 - 23
        local = least + (size - least) % (usable - 4)
        local = local if local <= most else least
        parts = [self.data[place : place + local]]
        following = self.data[place + local : place + local + 4]
        missing = size - local
        for _ in range(len(self.pages)):
            page = self.pages[int.from_bytes(following, "big")]
            parts.append(page[4 : 4 + min(missing, usable - 4)])
            missing -= len(parts[-1])
            following = page[:4]
            if missing <= 0:
                return b"".join(parts)
        msg = "the row is not complete"
        raise ValueError(msg)


def _read_varint(data: bytes, place: int) -> tuple[int, int]:
    """Return a number of variable length, and the place after it."""
    value = 0
    for count in range(9):
        byte = data[place + count]
        if count == 8:
            return (value << 8) | byte, place + 9
        value = (value << 7) | (byte & 0x7F)
        if byte < 0x80:
            return value, place + count + 1
    raise AssertionError


def _decode_record(payload: bytes) -> tuple[Value, ...]:
    """Return the values of a row; raise an error if the payload is not exactly a row."""
    end, place = _read_varint(payload, 0)
    types = []
    while place < end:
        serial_type, place = _read_varint(payload, place)
        types.append(serial_type)
    values = []
    for serial_type in types:
        value, place = _decode_value(payload, place, serial_type)
        values.append(value)
    if place != len(payload):
        msg = "the row has a wrong length"
        raise ValueError(msg)
    return tuple(values)


def _decode_value(payload: bytes, place: int, serial_type: int) -> tuple[Value, int]:
    if serial_type in (0, _ZERO, _ONE):
        return {0: None, _ZERO: 0, _ONE: 1}[serial_type], place
    if serial_type >= _FIRST_BLOB:
        size = (serial_type - _FIRST_BLOB) // 2
        content = payload[place : place + size]
        if len(content) < size:
            raise IndexError
        return content.decode() if serial_type % 2 else content, place + size
    if serial_type == _FLOAT:
        return struct.unpack_from(">d", payload, place)[0], place + 8
    size = _INT_SIZES[serial_type]
    if place + size > len(payload):
        raise IndexError
    return int.from_bytes(payload[place : place + size], "big", signed=True), place + size
