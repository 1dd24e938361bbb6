"""Check the values of rows, because a damaged file may contain anything in any column."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from zermelo.store.connection import damaged


def check_types(path: Path, row: Sequence[Any], types: Sequence[Any]) -> None:
    """Raise StoreFailure unless the values of a row have these types."""
    for value, kind in zip(row, types, strict=True):
        if not isinstance(value, kind):
            raise damaged(path, f"a row contains {str(value)[:40]!r}, which has a wrong type")


def parse_object(path: Path, text: str) -> dict[str, Any]:
    """Return the JSON object in a column; raise StoreFailure if the text is not one."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise damaged(path, f"{text[:40]!r} is not a JSON object")
    return value
