"""Commands that train players: `train` and `runs`."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zermelo.cli.common import options
from zermelo.cli.common.help import command
from zermelo.cli.common.options import Fields
from zermelo.cli.common.progress import Progress
from zermelo.core.errors import ZermeloError
from zermelo.core.phrases import count

if TYPE_CHECKING:
    from zermelo.learn.runs.run_folder import Run, RunSummary
    from zermelo.learn.runs.training_loop import TrainingProgress
    from zermelo.store.runs import RunStore

_GRADE_LABELS = {
    "raw": "network alone",
    "shell": "with immediate wins and blocks played by rule",
    "search": "with search",
}


@command(
    examples=(
        "zermelo train tictactoe-dqn --short",
        "zermelo train squava-hybrid --seed 1 --actors 2",
        "zermelo train tictactoe-dqn --short --game examples/domineering.py",
    )
)
@click.argument("recipe")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    show_default="RECIPE-SEED in Zermelo's folder of runs",
    help="Folder to store the run in.",
)
@options.integer_option("--seed", "Random seed.", 0, high=2**31 - 1)
@click.option(
    "--short", is_flag=True, help="Make a short trial run with the recipe's [short] settings."
)
@click.option("--resume", is_flag=True, help="Continue from the last checkpoint.")
@click.option(
    "--device",
    type=click.Choice(["cpu", "cuda"]),
    default="cpu",
    help="Device to run the network on.",
)
@click.option(
    "--game",
    metavar="GAME",
    show_default="the recipe's game",
    help="Learn this game, such as a Python file of your own, with the settings of the recipe.",
)
@click.option("--opponent", metavar="PLAYER", help="Learn a best response to this player.")
@options.integer_option(
    "--actors",
    "Number of processes that play training games; with 0, the learner plays them itself.",
    0,
    high=256,
)
@click.option(
    "--cluster",
    metavar="ADDR",
    help="Run the actors on the Ray cluster at HOST:PORT; `local` starts one on this machine.",
)
@options.json_option
def train(recipe: str, as_json: bool, **settings: Any) -> None:
    """Train a player by RECIPE and grade it.

    RECIPE is the name of a shipped recipe, which `zermelo recipes` lists, or a .toml file. The run
    is stored in a folder. You can stop it at any time: --resume continues from its checkpoint and
    ends with the same weights as an uninterrupted run.
    `zermelo runs` lists the runs. To play against a finished run, name the player dqn:FOLDER,
    hybrid:FOLDER or alphazero:FOLDER.
    """
    with options.needs_torch():
        from zermelo.learn.runs import model_card, run_folder, training_loop

    run, trainer = training_loop.prepare_training(recipe, **settings)
    for warning in run.warnings:
        click.echo(f"zermelo: warning: {warning}", err=True)
    with _store_run(run, resume=settings["resume"]) as store_grades:
        try:
            with Progress(f"training {recipe}") as progress:
                training_loop.run_training(
                    run, trainer, lambda now: progress(_progress_text(now), now.share)
                )
                progress("grading")
                grades = model_card.grade_run(run)
        except KeyboardInterrupt:
            click.echo(
                f"stopped, with a checkpoint in {run.folder}; continue with: "
                f"{options.repeat_command(resume=True)}",
                err=True,
            )
            raise
        model_card.write_card(run, grades, settings["device"])
        store_grades({name: grade.to_dict() for name, grade in grades.items()})
    summary = run_folder.summarize_run(run.folder)
    if as_json:
        options.print_json(vars(summary))
    else:
        _print_summary(summary)


def _progress_text(now: "TrainingProgress") -> str:
    report = now.report
    last = report.results[-100:]
    counts = "/".join(str(sum(r == value for r in last)) for value in (1, 0, -1))
    text = (
        f"update {report.update:,} of {now.total_updates:,}, {now.updates_per_second:,.0f}/s, "
        f"{now.seconds_left:,.0f} s left; loss {report.loss:.4f}, epsilon {report.epsilon:.2f}"
    )
    return text + (f", wins/draws/losses of the last {len(last)}: {counts}" if last else "")


@contextlib.contextmanager
def _store_run(run: "Run", *, resume: bool) -> Iterator[Any]:
    """Record the state of a run in the database; yield a function that stores its grades.

    If the database cannot be used, the training continues with one warning.
    """
    from zermelo.core import home
    from zermelo.store.runs import FINISHED, STOPPED, RunStore

    settings = {
        "recipe": run.recipe.name,
        "seed": run.seed,
        "folder": str(run.folder.absolute()),
        "player": run.player,
    }
    result: Fields = {}
    with contextlib.ExitStack() as stack:
        store, number = None, None
        with _warn_of_bad_store():
            store = stack.enter_context(RunStore(home.database()))
            number = _begin_run(store, run.game.spec, settings, resume=resume)
        try:
            yield result.update
        finally:
            if store is not None and number is not None:
                with _warn_of_bad_store():
                    store.update_run(number, FINISHED if result else STOPPED, result or None)


def _begin_run(store: "RunStore", game: str, settings: Fields, *, resume: bool) -> int:
    """Return the number of a new run in the database, or of the one that is resumed."""
    from zermelo.store.runs import RUNNING

    number = store.latest_run("train", settings) if resume else None
    if number is None:
        return store.add_run("train", game, settings)
    store.update_run(number, RUNNING)
    return number


@contextlib.contextmanager
def _warn_of_bad_store() -> Iterator[None]:
    from zermelo.store.connection import BadStore

    try:
        yield
    except BadStore as error:
        click.echo(f"zermelo: warning: the run is not recorded in the store: {error}", err=True)


@command(
    examples=(
        "zermelo runs",
        "zermelo runs show tictactoe-dqn-0",
        "zermelo runs export tictactoe-dqn-0 --out model.safetensors",
    )
)
@click.argument("action", type=click.Choice(["list", "show", "export"]), default="list")
@click.argument("name", required=False)
@options.file_option(
    "--out",
    "File for `export` to write: .safetensors for the weights, which can be used as a player, or "
    ".json for settings, grades and log.",
)
@click.option(
    "--bits",
    type=click.Choice(["32", "16", "8"]),
    default="32",
    help="Bits per weight of an exported .safetensors file.",
)
@options.json_option
def runs(action: str, name: str | None, out: Path | None, bits: str, as_json: bool) -> None:
    """List, show or export the training runs.

    NAME is the name of a run or its folder.
    """
    from zermelo.learn.runs import listing, run_folder
    from zermelo.learn.runs.log import read_log

    if action == "list":
        if name is not None or out is not None:
            msg = f"`list` takes neither NAME nor --out; try `zermelo runs show {name or 'NAME'}`"
            raise click.UsageError(msg)
        _list(listing.list_runs(*_stored_folders()), as_json=as_json)
        return
    if name is None:
        msg = f"name the run to {action}; `zermelo runs` lists them"
        raise click.UsageError(msg)
    folder = _find_folder(name)
    if action == "show":
        summary = run_folder.summarize_run(folder)
        if as_json:
            options.print_json({**vars(summary), "log": read_log(folder)})
        else:
            _print_summary(summary)
    elif out is None:
        msg = "`export` needs --out FILE.safetensors or --out FILE.json"
        raise click.UsageError(msg)
    else:
        _export(folder, out, int(bits))


def _stored_folders() -> list[Path]:
    """Return the folders of the training runs in the database."""
    from zermelo.core import home
    from zermelo.store.connection import BadStore
    from zermelo.store.history import History

    if not home.database().is_file():
        return []
    try:
        with History(home.database()) as store:
            stored = store.runs(None, None, 10_000)
    except BadStore as error:
        click.echo(f"zermelo: warning: runs in other folders are not listed: {error}", err=True)
        return []
    folders = (run.settings.get("folder") for run in stored if run.kind == "train")
    return [Path(folder) for folder in folders if isinstance(folder, str)]


def _find_folder(name: str) -> Path:
    """Return the folder of the run with this name. Raise BadRun if there is no such run."""
    from zermelo.learn.runs import listing
    from zermelo.learn.runs.run_folder import BadRun

    try:
        return listing.find_run(name)
    except BadRun:
        named = [path for path in _stored_folders() if path.name == name and path.is_dir()]
        if not named:
            raise
        return named[0]


def _list(summaries: list["RunSummary"], *, as_json: bool) -> None:
    if as_json:
        options.print_json({"runs": [vars(summary) for summary in summaries]})
    elif not summaries:
        click.echo("there are no runs yet; `zermelo train RECIPE` starts one")
    else:
        head = ("run", "game", "seed", "state", "mistakes", "unbeatable", "folder")
        options.print_table(head, [_row(summary) for summary in summaries])


def _row(summary: "RunSummary") -> tuple[Any, ...]:
    raw = (summary.grades or {}).get("raw") or {}
    rate = raw.get("mistake_rate")
    return (
        summary.name,
        summary.game,
        summary.seed,
        _state_text(summary),
        "" if rate is None else f"{rate:.2%}",
        {True: "yes", False: "no", None: ""}[raw.get("unbeatable")],
        summary.folder,
    )


def _state_text(summary: "RunSummary") -> str:
    if summary.state == "finished":
        return f"finished, {count(summary.updates, 'update')}"
    return f"at update {summary.update:,} of {summary.updates:,}"


def _print_summary(summary: "RunSummary") -> None:
    options.print_line(
        f"{summary.name}: {summary.recipe} for {summary.game}, seed {summary.seed}", bold=True
    )
    options.print_line(f"{_state_text(summary)}, in {summary.folder}")
    for name, grade in (summary.grades or {}).items():
        options.print_line(f"{_GRADE_LABELS.get(name, name)}: {_grade_text(grade)}")
    if summary.state == "finished":
        options.print_line(f"plays as {summary.player}")


def _grade_text(grade: Fields) -> str:
    """Return a grade as one line of text.

    For example: 0 mistakes in 4,520 positions, unbeatable, wins 99.48% as first and 90.91% as
    second against random.
    """
    mistakes, positions = count(grade["mistakes"], "mistake"), count(grade["positions"], "position")
    parts = [f"{mistakes} in {positions}"]
    if grade["unbeatable"] is not None:
        refutation = " ".join(grade["beaten_by"] or [])
        parts.append("unbeatable" if grade["unbeatable"] else f"beaten by {refutation}")
    if grade["vs_random"]:
        first, second = (grade["vs_random"][seat]["win"] for seat in ("first", "second"))
        parts.append(f"wins {first:.2%} as first and {second:.2%} as second against random")
    return ", ".join(parts)


def _export(folder: Path, out: Path, bits: int) -> None:
    from zermelo.learn.models import files as model_files
    from zermelo.learn.models import packing
    from zermelo.learn.networks import weights_file
    from zermelo.learn.runs.log import read_log
    from zermelo.learn.runs.run_folder import read_manifest, summarize_run

    try:
        if out.suffix == ".safetensors":
            arrays, about = weights_file.read(model_files.find_model_file(str(folder)))
            weights_file.write(out, packing.pack_weights(arrays, bits), about)
        elif out.suffix == ".json":
            summary = vars(summarize_run(folder))
            manifest, log = read_manifest(folder), read_log(folder)
            out.write_text(json.dumps({**summary, "asked": manifest, "log": log}), encoding="utf-8")
        else:
            msg = f"--out {out}: the name must end in .safetensors or .json"
            raise click.UsageError(msg)
    except OSError as error:
        msg = f"cannot write {out}: {error.strerror}"
        raise ZermeloError(msg) from None
