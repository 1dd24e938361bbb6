"""Generate the source of the `ActionMasks` methods for masks of a given number of words."""

from collections.abc import Callable

_Lines = Callable[[int], tuple[str, list[str]]]  # number of words → parameters and body


def _no_actions(size: int) -> tuple[str, list[str]]:
    return "", [_build(size, ["word(0)"] * size)]


def _as_mask(size: int) -> tuple[str, list[str]]:
    return "mask", [_build(size, [f"word({part})" for part in _parts(size)])]


def _is_empty(size: int) -> tuple[str, list[str]]:
    return "mask", [f"return ({' | '.join(_parts(size))}) == 0"]


def _count_actions(size: int) -> tuple[str, list[str]]:
    return "mask", [f"return {' + '.join(f'popcount({part})' for part in _parts(size))}"]


def _lowest_action(size: int) -> tuple[str, list[str]]:
    lines = []
    for place, part in enumerate(_parts(size)):
        guard = f"if {part} != 0: " if place + 1 < size else ""
        lines.append(f"{guard}return {_offset(place)}lowest({part})")
    return "mask", lines


def _without_lowest(size: int) -> tuple[str, list[str]]:
    lines = []
    for place, part in enumerate(_parts(size)):
        parts = _parts(size)
        parts[place] = f"{part} & ({part} - word(1))"
        guard = f"if {part} != 0: " if place + 1 < size else ""
        lines.append(guard + _build(size, parts))
    return "mask", lines


def _with_action(size: int) -> tuple[str, list[str]]:
    lines = []
    for place, part in enumerate(_parts(size)):
        parts = _parts(size)
        parts[place] = f"{part} | (word(1) << word(action - {64 * place}))"
        guard = f"if action < {64 * (place + 1)}: " if place + 1 < size else ""
        lines.append(guard + _build(size, parts))
    return "mask, action", lines


def _select_action(size: int) -> tuple[str, list[str]]:
    lines = []
    for place, part in enumerate(_parts(size)):
        if place + 1 < size:
            lines.append(f"if n < popcount({part}): return {_offset(place)}select({part}, n)")
            lines.append(f"n -= popcount({part})")
        else:
            lines.append(f"return {_offset(place)}select({part}, n)")
    return "mask, n", lines


def _load_mask(size: int) -> tuple[str, list[str]]:
    parts = [f"word(array[row, column + {place}])" for place in range(size)]
    return "array, row, column", [_build(size, parts)]


def _store_mask(size: int) -> tuple[str, list[str]]:
    parts = enumerate(_parts(size))
    lines = [f"array[row, column + {place}] = {part}" for place, part in parts]
    return "array, row, column, mask", lines


def _parts(size: int) -> list[str]:
    return ["mask"] if size == 1 else [f"mask[{place}]" for place in range(size)]


def _build(size: int, parts: list[str]) -> str:
    return f"return {parts[0]}" if size == 1 else f"return ({', '.join(parts)})"


def _offset(place: int) -> str:
    return f"{64 * place} + " if place else ""


_METHODS: dict[str, _Lines] = {
    "no_actions": _no_actions,
    "as_mask": _as_mask,
    "is_empty": _is_empty,
    "count_actions": _count_actions,
    "lowest_action": _lowest_action,
    "without_lowest": _without_lowest,
    "with_action": _with_action,
    "select_action": _select_action,
    "load_mask": _load_mask,
    "store_mask": _store_mask,
}
MASK_ACCESS = tuple(_METHODS)  #: the names of these methods


def mask_access_source(name: str, size: int, head: str) -> str:
    """Return the source of a method for masks of `size` words.

    `head` is the text of the parameters that come first.
    """
    parameters, lines = _METHODS[name](size)
    listed = (head + parameters).removesuffix(", ")
    body = "\n".join(f"    {line}" for line in lines)
    return f"def rule_{name}({listed}):\n{body}"
