"""The house rules of the source: rooms, sizes, imports and vocabulary."""

import ast
import functools
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.paths import ROOT

SOURCE = ROOT / "src"
PACKAGE = SOURCE / "zermelo"
MAX_FILES = 14
MAX_LINES = 100
MAX_KERNEL_PARAMETERS = 17

# Words that were once used here in a sense of our own, where the field has a word already.
PRIVATE_WORDS = {
    "asking": "options",
    "bent": "relu",
    "boldest": "most exploratory",
    "crew": "actor pool",
    "crews": "actor pools",
    "curiosity": "exploration, epsilon",
    "curious": "exploring",
    "dice": "rng",
    "folded": "fused",
    "forget": "evict, clear",
    "forgets": "evicts, clears",
    "forgotten": "evicted, cleared",
    "harvest": "rollout",
    "judge": "evaluate",
    "judged": "evaluated",
    "judges": "evaluates",
    "led": "search options",
    "made": "build_…",
    "remember": "store",
    "remembered": "stored",
    "remembers": "stores",
    "valued": "with a learned value",
    "walks": "traversal",
    "warming": "precompile",
    "worth": "value",
}
# The same for words that are private only when they stand alone as a name.
PRESCRIBED_NAMES = {"connection_made"}  # methods that a library calls by this name: asyncio
PRIVATE_NAMES = {
    "Alone": "InProcessActor",
    "Deep": "DQNTrainer",
    "Many": "GameBatch",
    "Sent": "rollouts",
    "Zero": "AlphaZeroTrainer",
    "drawn": "sampled (a drawn game is a tie)",
    "each": "batch",
    "many": "batch",
    "sent": "rollouts",
}


@functools.cache
def sources() -> dict[str, tuple[Path, ast.Module]]:
    """Every module of the package by its dotted name, parsed."""
    modules = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
        modules[name] = path, ast.parse(path.read_text(encoding="utf-8"))
    return modules


def runtime_imports(tree: ast.AST) -> Iterator[str]:
    """The modules that some line imports when it runs, those inside functions included."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in sources() else node.module
        yield from runtime_imports(node)


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected components with more than one module (Tarjan's algorithm)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for imported in graph[module]:
            if imported not in index:
                visit(imported)
                low[module] = min(low[module], low[imported])
            elif imported in stack:
                low[module] = min(low[module], index[imported])
        if low[module] == index[module]:
            component = [stack.pop()]
            while component[-1] != module:
                component.append(stack.pop())
            if len(component) > 1:
                found.append(sorted(component))

    for module in graph:
        if module not in index:
            visit(module)
    return found


def test_the_search_for_cycles_finds_one() -> None:
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [["b", "c"]]


def test_no_import_cycle_even_of_lazy_imports() -> None:
    graph = {
        name: {m for m in runtime_imports(tree) if m in sources() and m != name}
        for name, (_, tree) in sources().items()
    }
    assert sum(map(len, graph.values())) > 500
    assert cycles(graph) == []


def test_no_folder_holds_too_many_files() -> None:
    folders = defaultdict(int)
    for path, _ in sources().values():
        folders[path.parent.relative_to(SOURCE)] += 1
    assert {str(f): n for f, n in folders.items() if n > MAX_FILES} == {}


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for name, (_, tree) in sources().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{name}.{node.name}", node


def length(node: ast.AST) -> int:
    return node.end_lineno - node.lineno + 1  # type: ignore[attr-defined]


def test_no_function_is_too_long() -> None:
    assert {name: length(node) for name, node in functions() if length(node) > MAX_LINES} == {}
    assert next(length(n) for name, n in functions() if name.endswith(".create_app")) < 40


def test_no_kernel_takes_too_many_parameters() -> None:
    kernels = {
        name: len(node.args.args)
        for name, node in functions()
        if any("kernel(" in ast.unparse(d) for d in node.decorator_list)
    }
    assert len(kernels) > 20
    assert {name: n for name, n in kernels.items() if n > MAX_KERNEL_PARAMETERS} == {}


def test_public_classes_have_names_of_their_own() -> None:
    owners = defaultdict(list)
    for name, (_, tree) in sources().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                owners[node.name].append(name)
    assert {c: modules for c, modules in owners.items() if len(modules) > 1} == {}


def identifiers(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def private_part(identifier: str) -> str | None:
    """The part of an identifier that is a private word, if any."""
    name = identifier.strip("_")
    if name in PRIVATE_NAMES:
        return name
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)
    return next((part for part in parts if part.lower() in PRIVATE_WORDS), None)


@pytest.mark.parametrize(
    "identifier", ["crew_for", "Harvest", "learn_worth", "_made", "Many", "many"]
)
def test_private_words_are_recognised(identifier: str) -> None:
    assert private_part(identifier)


@pytest.mark.parametrize("identifier", ["how_many", "labelled", "is_played", "zero_grad", "Limit"])
def test_plain_words_are_not(identifier: str) -> None:
    assert private_part(identifier) is None


def test_identifiers_use_the_words_of_the_field() -> None:
    paths = [p for d in ("src", "tests", "scripts", "examples") for p in (ROOT / d).rglob("*.py")]
    wrong = defaultdict(set)
    for path in paths:
        where = str(path.relative_to(ROOT))
        for part in path.relative_to(ROOT).with_suffix("").parts:
            if private_part(part):
                wrong[where].add(part)
        for name in identifiers(ast.parse(path.read_text(encoding="utf-8"))):
            if private_part(name) and name not in PRESCRIBED_NAMES:
                wrong[where].add(name)
    assert dict(wrong) == {}


def test_options_and_headings_use_the_words_of_the_field() -> None:
    import click

    from zermelo.cli import cli

    def options(command: click.Command) -> Iterator[str]:
        yield from (name for p in command.params for name in (*p.opts, *p.secondary_opts))
        for child in getattr(command, "commands", {}).values():
            yield child.name
            yield from options(child)

    names = list(options(cli))
    assert "--seed" in names
    pages = [*(ROOT / "docs").glob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    headings = [h for p in pages for h in re.findall(r"^#+ (.*)$", p.read_text(), re.MULTILINE)]
    assert len(headings) > 50
    said = [w for text in (*names, *headings) for w in re.findall(r"[\w-]+", text)]
    assert [w for w in said if private_part(w.strip("-").replace("-", "_"))] == []
