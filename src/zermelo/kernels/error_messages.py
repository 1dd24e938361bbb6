"""Error messages of the compiler: numba's errors in one sentence, with the author's line.

numba reports lines of the generated module, in a text of many lines. The first line that belongs to
a user's file is the cause, or the statement nearest to it.
"""

import re

from zermelo.kernels.source.line_numbers import SourceLine

_LINE = re.compile(r'k_[0-9a-f]+\.py(?:", line | \()(\d+)')
_HINT = "a word combined with a plain number is not a word: write self.one or word(1)"
_CONTAINERS = "lists, sets, dicts and strings cannot be compiled: rules use numbers and tuples"
_OPERATORS = {
    "or_": "|",
    "and_": "&",
    "xor": "^",
    "lshift": "<<",
    "rshift": ">>",
    "add": "+",
    "sub": "-",
    "mul": "*",
    "getitem": "[…]",
}
_NAMES = {"uint64": "a word", "int64": "an int", "float64": "a float", "bool": "a bool"}


def explain_error(error: str, lines: dict[int, SourceLine], spec: str, problem: str) -> str:
    """Return numba's error as one line that names the line in the author's file, if there is one.

    `lines` gives the original line for each line of the generated module; `problem` says what
    does not compile.
    """
    cause = f"{problem}: {describe_error(error)}"
    for number in _LINE.findall(error):
        line = lines.get(int(number))
        if line is not None and not line.is_own:
            return f"{line}: {cause}"
    return f"{spec}: {cause}"


def describe_error(error: str) -> str:
    """Return the cause of numba's error in terms that authors of rules know.

    >>> describe_error("Unknown attribute 'bit_length' of type uint64")
    "a word has no attribute 'bit_length'"
    """
    if re.search(r"NRT required|(?:list|set)\(|DictType|unicode_type|_empty_string", error):
        return _CONTAINERS
    if match := re.search(r"Unknown attribute '(\w+)' of type ([\w()]+)", error):
        return f"{type_name(match[2])} has no attribute '{match[1]}'"
    if match := re.search(r"(?:Untyped global name|name) '(\w+)'", error):
        return f"'{match[1]}' cannot be compiled"
    if match := re.search(r">>> (\w+)\(([^\n]*)\)", error):
        return _describe_call(match[1], match[2])
    if match := re.search(r"[Cc]annot unify (.+) and (.+) for '([\w.]+)'", error):
        name = match[3].partition(".")[0]
        kinds = f"{type_name(match[1])} in one place and {type_name(match[2])} in another"
        return f"'{name}' is {kinds}, but it must have one type ({_HINT})"
    noise = ("Failed in", "During", "-", "There are", "File")
    useful = [line.strip() for line in error.splitlines() if line.strip()]
    return next((line for line in useful if not line.startswith(noise)), error)[:200]


def _describe_call(name: str, arguments: str) -> str:
    kinds = [type_name(kind) for kind in re.split(r", (?![^(\[]*[)\]])", arguments)]
    what = f"operator {_OPERATORS[name]}" if name in _OPERATORS else f"a call of {name}"
    hint = f" ({_HINT})" if "a float" in kinds else ""
    return f"{what} cannot be compiled for {' and '.join(kinds)}{hint}"


def type_name(kind: str) -> str:
    """Return a readable name for a numba type.

    >>> type_name("uint64"), type_name("Literal[int](5)")
    ('a word', 'an int')
    """
    if kind.startswith("Literal[int]"):
        return "an int"
    return _NAMES.get(kind, kind)
