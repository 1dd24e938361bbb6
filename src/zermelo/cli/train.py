"""Training, and the runs that it leaves."""

import contextlib
import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zermelo.cli import options
from zermelo.core.errors import ZermeloError

if TYPE_CHECKING:
    from zermelo.learn.runs.run import Run, Story
    from zermelo.learn.runs.training import Progress


@click.command()
@click.argument("recipe")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="The run's folder.  [RECIPE-SEED among the others]",
)
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True)
@click.option("--short", is_flag=True, help="A trial of the recipe, with its short budget.")
@click.option("--resume", is_flag=True, help="Go on from the checkpoint.")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu", show_default=True)
@click.option("--opponent", help="Learn the best answer to this player.")
@click.option(
    "--actors",
    type=click.IntRange(0, 256),
    default=0,
    help="Processes that play the games, beside the one that learns.  [it plays, too]",
)
@click.option("--cluster", metavar="ADDR", help="Play on a Ray cluster: its address, or local.")
@options.json_option
def train(recipe: str, as_json: bool, **asked: Any) -> None:
    """Follow RECIPE, a name or a .toml file, to a learned player, and grade it.

    The run is a folder that can be killed at any time: --resume goes on from its checkpoint, and
    ends with the same weights. `zermelo runs` lists the runs; one of them plays as dqn:FOLDER, as
    hybrid:FOLDER or as alphazero:FOLDER.
    """
    learning = _learning()
    run, trainer = learning.training.prepare(recipe, **asked)
    for warning in run.warnings:
        click.echo(f"zermelo: note: {warning}", err=True)
    with _noted(run, resume=asked["resume"]) as note:
        try:
            with options.progress(f"train {recipe}") as say:
                learning.training.follow(run, trainer, lambda now: say(_progress_text(now)))
                say("grading")
                grades = learning.cards.grades(run)
        except KeyboardInterrupt:
            _say_how_to_go_on(run)
            raise
        learning.cards.write(run, grades, asked["device"])
        note({name: grade.to_json() for name, grade in grades.items()})
    story = learning.runs.story(run.folder)
    if as_json:
        options.print_json(vars(story))
    else:
        _print_story(story)


_GRADES = {
    "raw": "alone",
    "shell": "with wins and blocks by rule",
    "search": "with its search",
}


class _learning:  # noqa: N801 - used as a function
    """What it takes to learn, imported when it is asked for."""

    def __init__(self) -> None:
        try:
            from zermelo.learn.runs import model_card, training
            from zermelo.learn.runs import run as runs
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            msg = "training needs torch: pip install 'zermelo[learn]'"
            raise ZermeloError(msg) from None
        self.cards, self.runs, self.training = model_card, runs, training


def _progress_text(now: "Progress") -> str:
    report = now.report
    last = report.results[-100:]
    counts = "/".join(str(sum(r == value for r in last)) for value in (1, 0, -1))
    text = (
        f"{report.update:,} of {now.updates:,}, {now.rate:,.0f} a second, "
        f"{now.seconds_left:,.0f} s left; loss {report.loss:.4f}, epsilon {report.epsilon:.2f}"
    )
    return text + (f", last {len(last)} games +/=/- {counts}" if last else "")


@contextlib.contextmanager
def _noted(run: "Run", *, resume: bool) -> Iterator[Any]:
    """The run in the store, with what came of it. A store that is busy must not stop it."""
    import sqlite3

    from zermelo.core import home
    from zermelo.store.runs import FINISHED, RUNNING, STOPPED, Runs

    settings = {
        "recipe": run.recipe.name,
        "seed": run.seed,
        "folder": str(run.folder.absolute()),
        "player": run.player,
    }
    result: dict[str, Any] = {}
    with Runs(home.database()) as store:
        number = store.newest("train", settings) if resume else None
        if number is None:
            number = store.begin("train", run.game.spec, settings)
        with contextlib.suppress(sqlite3.Error):
            store.end(number, RUNNING)
        try:
            yield result.update
        finally:
            with contextlib.suppress(sqlite3.Error):
                store.end(number, FINISHED if result else STOPPED, result or None)


def _say_how_to_go_on(run: "Run") -> None:
    given = [word for word in sys.argv[1:] if word != "--resume"]
    again = shlex.join(["zermelo", *given, "--resume"])
    click.echo(f"stopped, with a checkpoint in {run.folder}; go on with: {again}", err=True)


@click.command()
@click.argument("action", type=click.Choice(["list", "show", "export"]), default="list")
@click.argument("name", required=False)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Of export: a .safetensors file that plays, or a .json file with all that is known.",
)
@click.option(
    "--bits",
    type=click.Choice(["32", "16", "8"]),
    default="32",
    help="Of export: in how many a weight is kept; with 8 the file is a quarter of its size.",
)
@options.json_option
def runs(action: str, name: str | None, out: Path | None, bits: str, as_json: bool) -> None:
    """Training runs: list them, show one by its NAME or folder, export one as a file."""
    from zermelo.learn.runs import run as kept

    if action == "list":
        if name is not None or out is not None:
            msg = f"list takes nothing more: zermelo runs show {name or 'NAME'}"
            raise click.UsageError(msg)
        _list(kept.stories(*_elsewhere()), as_json=as_json)
        return
    if name is None:
        msg = f"{action} which run? zermelo runs lists them"
        raise click.UsageError(msg)
    folder = _found(name)
    if action == "show":
        story = kept.story(folder)
        if as_json:
            options.print_json({**vars(story), "log": kept.read_log(folder)})
        else:
            _print_story(story)
    elif out is None:
        msg = "export to which file? --out FILE.safetensors or FILE.json"
        raise click.UsageError(msg)
    else:
        _export(folder, out, int(bits))


def _elsewhere() -> list[Path]:
    """The folders of runs that the store knows of."""
    from zermelo.core import home
    from zermelo.store.history import History

    if not home.database().is_file():
        return []
    with History(home.database()) as store:
        found = store.runs(None, None, 10_000)
    return [Path(r.settings["folder"]) for r in found if r.kind == "train"]


def _found(name: str) -> Path:
    """A run by its name, wherever its folder is."""
    from zermelo.learn.runs import run as kept

    try:
        return kept.find(name)
    except kept.BadRun:
        named = [folder for folder in _elsewhere() if folder.name == name and folder.is_dir()]
        if not named:
            raise
        return named[0]


def _list(stories: list["Story"], *, as_json: bool) -> None:
    if as_json:
        options.print_json({"runs": [vars(story) for story in stories]})
    elif not stories:
        click.echo("there are no runs yet: zermelo train RECIPE begins one")
    else:
        head = ("run", "game", "seed", "state", "mistakes", "unbeatable", "where")
        options.table(head, [_row(story) for story in stories])


def _row(story: "Story") -> tuple[Any, ...]:
    raw = (story.grades or {}).get("raw") or {}
    rate = raw.get("mistake_rate")
    return (
        story.name,
        story.game,
        story.seed,
        _state(story),
        "" if rate is None else f"{rate:.2%}",
        {True: "yes", False: "no", None: ""}[raw.get("unbeatable")],
        story.folder,
    )


def _state(story: "Story") -> str:
    if story.state == "finished":
        return f"finished, {story.updates:,} updates"
    return f"at update {story.update:,} of {story.updates:,}"


def _print_story(story: "Story") -> None:
    click.secho(f"{story.name}: {story.recipe} for {story.game}, seed {story.seed}", bold=True)
    click.echo(f"{_state(story)}, in {story.folder}")
    for name, found in (story.grades or {}).items():
        label = _GRADES.get(name, name)
        click.echo(f"{label}: {_grade_text(found)}")
    if story.state == "finished":
        click.echo(f"it plays as {story.player}")


def _grade_text(found: dict[str, Any]) -> str:
    """Such as: 0 mistakes in 4,520 positions, unbeatable, wins 99.48% / 90.91% against random."""
    parts = [f"{found['mistakes']:,} mistakes in {found['positions']:,} positions"]
    words = {True: "unbeatable", False: "beaten by " + " ".join(found["beaten_by"] or [])}
    parts += [words[found["unbeatable"]]] if found["unbeatable"] is not None else []
    if found["vs_random"]:
        won = " / ".join(f"{found['vs_random'][seat]['win']:.2%}" for seat in ("first", "second"))
        parts.append(f"wins {won} as first / second against random")
    return ", ".join(parts)


def _export(folder: Path, out: Path, bits: int) -> None:
    from zermelo.learn.models import model
    from zermelo.learn.networks import packing, weights_file
    from zermelo.learn.runs import run as kept

    try:
        if out.suffix == ".safetensors":
            arrays, about = weights_file.read(model.find(str(folder)))
            weights_file.write(out, packing.packed(arrays, bits), about)
        elif out.suffix == ".json":
            story = vars(kept.story(folder))
            asked, log = kept.read_asked(folder), kept.read_log(folder)
            out.write_text(json.dumps({**story, "asked": asked, "log": log}), encoding="utf-8")
        else:
            msg = f"--out {out}: it ends in .safetensors, or in .json"
            raise click.UsageError(msg)
    except OSError as error:
        msg = f"cannot write {out}: {error.strerror}"
        raise ZermeloError(msg) from None
