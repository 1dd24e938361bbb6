"""The help of commands: examples at its end, and a list of commands under headings."""

from collections.abc import Callable, Iterable
from typing import Any

import click


class ExampleCommand(click.Command):
    """A command whose help ends with examples: command lines that can be run as they are."""

    def __init__(self, *args: Any, examples: tuple[str, ...] = (), **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.examples = examples

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, one per line."""
        super().format_epilog(ctx, formatter)
        write_examples(formatter, self.examples)


class CommandGroup(click.Group):
    """A group that lists its commands under headings, each with its full summary.

    Commands that were added without a heading come last, in the order they were added.
    """

    command_class = ExampleCommand

    def __init__(self, *args: Any, examples: tuple[str, ...] = (), **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.examples = examples
        self._headings: dict[str, list[str]] = {}

    def add_section(self, heading: str, commands: Iterable[click.Command]) -> None:
        """Add commands and list them under a heading."""
        names = self._headings.setdefault(heading, [])
        for command in commands:
            assert command.name is not None
            self.add_command(command)
            names.append(command.name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands in the order they were added."""
        del ctx
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands of each heading with their summaries."""
        listed = {name for names in self._headings.values() for name in names}
        others = [name for name in self.list_commands(ctx) if name not in listed]
        sections = self._headings | ({"Commands": others} if others else {})
        width = max(map(len, self.commands))
        limit = formatter.width - width - 6  # as click computes it
        for heading, names in sections.items():
            with formatter.section(heading):
                formatter.write_dl(
                    [(f"{n:{width}}", self.commands[n].get_short_help_str(limit)) for n in names]
                )

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, one per line."""
        super().format_epilog(ctx, formatter)
        write_examples(formatter, self.examples)


def command(
    name: str | None = None, *, examples: tuple[str, ...], **settings: Any
) -> Callable[[Callable[..., Any]], ExampleCommand]:
    """Return a decorator like `click.command` for a command with examples."""
    return click.command(name, cls=ExampleCommand, examples=examples, **settings)


def write_examples(formatter: click.HelpFormatter, examples: tuple[str, ...]) -> None:
    """Write examples as they are: a command line must not be wrapped."""
    if examples:
        with formatter.section("Examples"):
            for example in examples:
                formatter.write(f"{'':{formatter.current_indent}}{example}\n")
