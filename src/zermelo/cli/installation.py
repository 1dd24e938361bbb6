"""Commands about this installation: `doctor`, `warm` and `completion`."""

import os
import sys
import time

import click

from zermelo import __version__
from zermelo.cli.common import options
from zermelo.cli.common.help import command
from zermelo.cli.common.options import Fields
from zermelo.cli.common.progress import Progress
from zermelo.core.phrases import count

# The extras of the package: what each is for, and the modules that it installs.
_EXTRAS = {
    "studio": ("the web page", ("fastapi", "uvicorn")),
    "learn": ("training", ("torch", "tensorboard")),
    "tui": ("the full-screen terminal", ("textual",)),
    "window": ("the window", ("pygame",)),
    "envs": ("environments for Gymnasium and PettingZoo", ("gymnasium", "pettingzoo")),
    "cluster": ("actors on several machines", ("ray",)),
}


@command(examples=("zermelo doctor",))
@click.option("--clear-cache", is_flag=True, help="Delete all compiled kernels.")
@options.json_option
def doctor(clear_cache: bool, as_json: bool) -> None:
    """Show what is installed, and how to install what is missing.

    Prints versions, extras, the graphics processor, compiled kernels, and where data is stored.
    """
    import platform
    from importlib import metadata

    from zermelo.core import home
    from zermelo.kernels import cache

    num_removed = cache.clear() if clear_cache else None
    fields: Fields = {
        "zermelo": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}, {count(os.cpu_count() or 1, 'core')}",
        "numba": metadata.version("numba"),
        "numpy": metadata.version("numpy"),
        "extras": {
            name: all(map(_is_installed, modules)) for name, (_, modules) in _EXTRAS.items()
        },
        "gpu": _gpu_name(),
        "cache": str(home.cache_folder()),
        "kernels": cache.num_compiled(),
        "data": str(home.state_folder()),
        "removed": num_removed,
    }
    if as_json:
        options.print_json(fields)
        return
    if num_removed is not None:
        options.print_line(f"{count(num_removed, 'file')} deleted from {fields['cache']}")
    for line in _describe(fields):
        options.print_line(line)


def _describe(fields: Fields) -> list[str]:
    versions = (f"{name} {fields[name]}" for name in ("python", "numba", "numpy"))
    lines = [f"zermelo {fields['zermelo']}, {', '.join(versions)}", fields["system"]]
    for name, (purpose, _) in _EXTRAS.items():
        advice = (
            "installed" if fields["extras"][name] else f"missing: pip install 'zermelo[{name}]'"
        )
        lines.append(f"{name:8} {purpose}: {advice}")
    gpu = fields["gpu"] or "none that torch can use: training runs on the CPU"
    kernels = count(fields["kernels"], "compiled kernel")
    advice = "" if fields["kernels"] else "; `zermelo warm` compiles the common ones"
    return [
        *lines,
        f"GPU: {gpu}",
        f"cache: {fields['cache']}, {kernels}{advice}",
        f"games, runs and matches: {fields['data']}",
    ]


def _is_installed(module: str) -> bool:
    from importlib import util

    return util.find_spec(module) is not None


def _gpu_name() -> str | None:
    """Return the name of the GPU that torch can use, or None."""
    if not _is_installed("torch"):
        return None
    from zermelo.learn.alphazero import throughput

    return throughput.gpu_name() or None


@command(
    examples=(
        "zermelo warm",
        "zermelo warm connect4 squava",
    )
)
@click.argument("games", nargs=-1)
@options.json_option
def warm(games: tuple[str, ...], as_json: bool) -> None:
    """Compile the kernels ahead of time.

    Compiles the kernels for GAMES, or for all games, so that later commands start without delay.
    """
    from zermelo import precompile

    begin = time.perf_counter()
    with Progress("compiling") as progress:
        number = precompile.compile_all(progress, games)
    seconds = round(time.perf_counter() - begin, 1)
    if as_json:
        options.print_json({"kernels": number, "seconds": seconds})
    else:
        options.print_line(f"{count(number, 'kernel')} ready in {seconds} s")


@command(
    examples=(
        "zermelo completion bash >> ~/.bashrc",
        "zermelo completion fish > ~/.config/fish/completions/zermelo.fish",
    )
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script that completes commands and options in SHELL.

    Add it to the shell's start-up file, for example: zermelo completion bash >> ~/.bashrc
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    root = context.find_root()
    sys.stdout.write(kind(root.command, {}, "zermelo", "_ZERMELO_COMPLETE").source())
