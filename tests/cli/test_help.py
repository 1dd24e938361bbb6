"""The help of every command: a full summary in a group, and examples that work."""

import re
import shlex
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from support.commands import command
from support.paths import ROOT
from zermelo.cli import cli
from zermelo.games import registry
from zermelo.players.registry import HUMAN, load_player

#: examples that take a second at most, once the kernels are compiled
QUICK = (
    "analyze tictactoe",
    "choose tictactoe",
    "completion bash",
    "count tictactoe",
    "games",
    "players",
    "recipes",
    "review tictactoe",
    "rules",
    "solve mnk:4x4x3",
    "textbook tictactoe",
)


def all_commands(group: click.Group, *names: str) -> Iterator[tuple[str, click.Command]]:
    for name, item in group.commands.items():
        yield " ".join([*names, name]), item
        if isinstance(item, click.Group):
            yield from all_commands(item, *names, name)


COMMANDS = dict(all_commands(cli))
EXAMPLES = [
    pytest.param(example, id=example)
    for item in COMMANDS.values()
    for example in getattr(item, "examples", ())
]


DOCUMENTED = [
    pytest.param(line, id=f"{path.name}: {line}")
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    for line in re.findall(
        r"^(?:\$ )?(zermelo [a-z].*?)(?:  +#.*)?$", path.read_text(), re.MULTILINE
    )
    if not re.search(r"[A-Z]{4}|…|\[|proof 1$", line)  # a form of command, or a line of a file
    and line.split()[1].strip(":,.`") in cli.commands
]


def help_of(name: str) -> str:
    shown = CliRunner().invoke(cli, [*name.split(), "--help"], prog_name="zermelo")
    assert shown.exit_code == 0
    return shown.output


def words_of(example: str) -> list[str]:
    """Return the arguments of the last command in a line such as `zermelo a | zermelo b > c`."""
    part = re.split(r" [|] (?=zermelo )", example)[-1]
    part = re.split(r" [|] ", part)[0]
    return shlex.split(re.split(r" >>? ", part)[0])[1:]


def test_commands_are_listed_in_groups_with_full_summaries() -> None:
    shown = help_of("")
    headings = re.findall(r"^(\S.*):$", shown, re.MULTILINE)
    assert headings == [
        "Options", "Play", "Solve and analyze", "Learn", "Compare", "Data", "Set-up", "Examples",
    ]  # fmt: skip
    for name, item in cli.commands.items():
        line = next(line for line in shown.splitlines() if line.startswith(f"  {name} "))
        assert len(line) <= 80
        assert line.endswith("."), line
        assert not line.endswith("..."), f"the summary of {name} is cut off: {line}"
        summary = (item.help or "").split("\n")[0]
        assert line.split(None, 1)[1] == summary
    assert "..." not in help_of("bench").partition("Commands:")[2]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_ends_with_examples(name: str) -> None:
    shown = help_of(name)
    examples = shown.partition("\nExamples:\n")[2].splitlines()
    assert examples, f"{name} has no examples"
    for line in examples:
        assert f"zermelo {name}" in line
        assert len(line) <= 80, "the example does not fit into 80 columns"


@pytest.mark.parametrize("example", EXAMPLES + DOCUMENTED)
def test_examples_are_valid(example: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The options exist, and so do the games and the players, also in the README and the docs."""
    item: click.Command = cli
    words = words_of(example)
    while isinstance(item, click.Group):
        item, words = item.commands[words[0]], words[1:]
    for parameter in item.params:
        if isinstance(parameter.type, click.Path | click.File):  # the file need not exist here
            monkeypatch.setattr(parameter, "type", click.STRING)
    context = item.make_context(None, words)
    for name, value in context.params.items():
        if name not in ("game", "first", "second", "player", "players") or not value:
            continue
        for spec in value if isinstance(value, tuple) else (value,):
            if "." in spec or spec == HUMAN:  # a file, which need not exist here
                continue
            registry.game(spec) if name == "game" else load_player(spec)


@pytest.mark.parametrize(
    "example", [p for p in EXAMPLES if str(p.id).startswith(tuple(f"zermelo {q}" for q in QUICK))]
)
def test_quick_examples_run(example: str) -> None:
    code, out, err = command(*words_of(example))
    assert code == 0, err
    assert out
