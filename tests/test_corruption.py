"""Damaged files of every kind are refused with an error of ours, or read as before.

Each kind of file is cut off at 200 places, and 200 times one random bit of it is flipped. A file
with a checksum never gives a result other than that of the intact file; a file in a plain format
is read or refused.
"""

import contextlib
import io
import json
import random
import runpy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import pytest

import zermelo as z
from support.learners import train_until
from support.paths import ROOT
from support.recipes import write_recipe
from zermelo import records
from zermelo.cli import history as history_command
from zermelo.core.errors import ZermeloError
from zermelo.grading import position_sets
from zermelo.learn.config import recipes
from zermelo.learn.models.files import load_model_file
from zermelo.learn.networks import weights_file
from zermelo.learn.runs import listing
from zermelo.learn.runs.log import LOG, read_log
from zermelo.matches import saves
from zermelo.search import textbook
from zermelo.search.proofs.proof import prove
from zermelo.search.solver.book_builder import _Journal
from zermelo.search.tablebase.opening_book import OpeningBook
from zermelo.search.tablebase.tablebase import Tablebase
from zermelo.store.history import History
from zermelo.store.matches import MatchRow, MatchStore
from zermelo.store.runs import FINISHED, GameRow, Rating, RunStore

NUM_CUTS = NUM_FLIPS = 200
CHECKER = str(ROOT / "src/zermelo/search/proofs/check_proof.py")


class FileKind(NamedTuple):
    """A kind of file: how to create one in a folder, and how the product reads it."""

    create: Callable[[Path], Path]
    load: Callable[[Path], Any]
    has_checksum: bool


def word_game(spec: str) -> z.WordGame:
    game = z.game(spec)
    assert isinstance(game, z.WordGame)
    return game


# Weights.


def create_checkpoint(folder: Path) -> Path:
    train_until(str(write_recipe(folder, ("size = 300", "size = 60"))), folder / "run", 8)
    return folder / "run" / "checkpoint.safetensors"


def create_model(folder: Path) -> Path:
    train_until(str(write_recipe(folder)), folder / "run", 8)
    return folder / "run" / "best.safetensors"


def load_arrays(path: Path) -> Any:
    return to_comparable(*weights_file.read(path)), weights_file.read_metadata(path)


def load_model(path: Path) -> Any:
    model = load_model_file(str(path), z.game("tictactoe"), "dqn")
    return to_comparable(model.arrays, model.metadata)


def to_comparable(arrays: weights_file.Arrays, metadata: dict[str, Any]) -> Any:
    texts = {name: (a.shape, str(a.dtype), a.tobytes()) for name, a in arrays.items()}
    return texts, metadata


# Solved positions and proofs.


def create_tablebase(folder: Path) -> Path:
    path = folder / "mnk.table"
    Tablebase.build(word_game("mnk:2x4x3")).write(path)
    return path


def load_tablebase(path: Path) -> Any:
    tablebase = Tablebase.read(path, word_game("mnk:2x4x3"))
    return tablebase._keys.tobytes(), tablebase._codes.tobytes()


def create_book(folder: Path) -> Path:
    game = word_game("tictactoe")
    start = game.initial()
    states = {start, game.play(start, 0), game.play(start, 1), game.play(start, 4)}
    path = folder / "tictactoe.book"
    OpeningBook.from_scores(game, dict.fromkeys(states, 0)).write(path)
    return path


def load_book(path: Path) -> Any:
    book = OpeningBook.read(path, word_game("tictactoe"))
    return book._keys.tobytes(), book._codes.tobytes()


def create_journal(folder: Path) -> Path:
    game = word_game("tictactoe")
    journal = _Journal(folder / "journal", game, 3)
    assert list(journal.read()) == []
    for action in range(9):
        journal.append(game.play(game.initial(), action), action - 4)
    return journal.path


def load_journal(path: Path) -> Any:
    """Return nothing but check that each score is right; scores that are missing are computed."""
    game = word_game("tictactoe")
    scores = {game.play(game.initial(), action): action - 4 for action in range(9)}
    assert dict(_Journal(path, game, 3).read()).items() <= scores.items()


def create_proof(folder: Path) -> Path:
    path = folder / "proof.txt"
    prove(z.game("mnk:4x3x3")).write(path)
    return path


def load_proof(path: Path) -> Any:
    """Run the checker, and compare what it claims to have proven with a search."""
    output = io.StringIO()
    with (
        mock.patch.object(sys, "argv", [CHECKER, str(path)]),
        contextlib.redirect_stdout(output),
    ):
        try:
            runpy.run_path(CHECKER, run_name="__main__")
        except SystemExit as error:
            raise ZermeloError(str(error.code)) from None
    _, _, result = output.getvalue().partition(" (")
    if " rows 4 cols 3 win 3 lose 0 gravity 0 exact 0" not in f" {result}":
        words = result.partition(")")[0].split()
        rules = {name: int(number) for name, number in zip(words[::2], words[1::2], strict=True)}
        exact = "exact" if rules.pop("exact") else "any"
        values = ",".join(f"{name}={number}" for name, number in rules.items())
        game = z.game(f"line:{values},overline={exact}".replace("gravity=0", "gravity=false"))
        value = textbook.TextbookSearch(game, method="both").solve(game.initial())
        assert f"claim {('draw', 'first', 'second')[value]}:" in result
        return None
    return result


# Records, recipes, saves, positions.


def record_kind(format_name: str, text: str) -> FileKind:
    def create(folder: Path) -> Path:
        record = records.read(text, "text")
        path = folder / f"record.{format_name}"
        path.write_text(records.write(record, format_name), encoding="utf-8")
        return path

    def load(path: Path) -> Any:
        with path.open(encoding="utf-8", errors="replace") as file:  # as `zermelo convert` does
            found = list(records.read_all(file, format_name))
        return [(record.game.spec, record.moves, record.outcome) for record in found]

    return FileKind(create, load, has_checksum=False)


def create_recipe(folder: Path) -> Path:
    return write_recipe(folder)


def load_recipe(path: Path) -> Any:
    return recipes.load(str(path)), recipes.load(str(path), short=True)


def create_save(folder: Path) -> Path:
    with mock.patch.dict("os.environ", ZERMELO_HOME=str(folder)):
        saves.write(saves.Save("tictactoe", "human", "level:3", ("b2", "a1", "c3")), "mine")
    return folder / "saved" / "named" / "mine.json"


def load_save(path: Path) -> Any:
    with mock.patch.dict("os.environ", ZERMELO_HOME=str(path.parents[2])):
        return saves.read_named(path.stem)


def create_position_set(folder: Path) -> Path:
    game = z.game("tictactoe")
    texts = ("", "b2", "a1 b2\tdddlldl", "a1 b2 c3")
    positions = position_sets.parse("\n".join(texts), game, "these")
    path = folder / "positions.txt"
    path.write_text(position_sets.to_text(positions, game, 1, "zermelo positions"))
    return path


def load_position_set(path: Path) -> Any:
    return [one.to_text() for one in position_sets.read(path, z.game("tictactoe"))]


# Runs and the store.


def create_manifest(folder: Path) -> Path:
    train_until(str(write_recipe(folder)), folder / "run", 8)
    (folder / "run" / "card.json").write_text(json.dumps({"grades": {}}))
    return folder / "run" / "run.json"


def load_manifest(path: Path) -> Any:
    assert listing.list_runs(path.parent) is not None
    return listing.summarize_run(path.parent)


def create_log(folder: Path) -> Path:
    train_until(str(write_recipe(folder)), folder / "run", 13)
    return folder / "run" / LOG


def load_log(path: Path) -> Any:
    json.dumps(lines := read_log(path.parent), allow_nan=False)
    return lines


def create_store(folder: Path) -> Path:
    path = folder / "store.db"
    with MatchStore(path) as matches:
        for number in range(8):
            matches.add(MatchRow(f"m{number}", "tictactoe", "human", "level:3", "b2 a1", 2))
    with RunStore(path) as runs:
        for seed in range(4):
            run = runs.add_run("arena", "tictactoe", {"players": ["a", "b"], "seed": seed})
            runs.add_players({"a": "random", "b": "greedy"})
            runs.add_games(run, [GameRow(n, "a", "b", 0, "a1 b2", "first") for n in range(9)])
            runs.set_ratings(run, {"a": Rating(1, 0, 2, 3)})
            result = {"results": [dict.fromkeys(("first", "second", "wins", "draws", "losses"), 1)]}
            runs.update_run(run, FINISHED, result)
        runs.add_analysis("tictactoe", ["b2"], "", {"value": "draw"})
    return path


def load_store(path: Path) -> Any:
    """Read everything, through each of the classes and through the command that shows it."""
    with contextlib.redirect_stdout(io.StringIO()):
        history_command.history.main(["list", "--db", str(path)], standalone_mode=False)
        for key in ("1", "m3", "2/5"):
            history_command.history.main(["show", key, "--db", str(path)], standalone_mode=False)
    with History(path) as history:
        runs = history.runs(None, None, 99)
        games = [history.games_in(run.id) for run in runs]
    with MatchStore(path) as matches:
        assert matches.get("m1") is None or matches.get("m1")
        return games, matches.latest(99)


KINDS = {
    "checkpoint": FileKind(create_checkpoint, load_arrays, has_checksum=True),
    "model": FileKind(create_model, load_model, has_checksum=True),
    "tablebase": FileKind(create_tablebase, load_tablebase, has_checksum=True),
    "opening book": FileKind(create_book, load_book, has_checksum=True),
    "journal of a book": FileKind(create_journal, load_journal, has_checksum=True),
    "proof": FileKind(create_proof, load_proof, has_checksum=False),
    "text record": record_kind("text", "tictactoe b2 a1 c1 b1 a3 1-0"),
    "json record": record_kind("json", "tictactoe b2 a1 c1 b1 a3 1-0"),
    "psq record": record_kind("psq", "gomoku h8 g7 h7 a1 *"),
    "sgf record": record_kind("sgf", "gomoku h8 g7 h7 a1 *"),
    "digits record": record_kind("digits", "connect4 4 4 3 1 7 *"),
    "transcript record": record_kind("transcript", "reversi d3 c5 e6 *"),
    "recipe": FileKind(create_recipe, load_recipe, has_checksum=False),
    "save": FileKind(create_save, load_save, has_checksum=True),
    "position set": FileKind(create_position_set, load_position_set, has_checksum=False),
    "manifest of a run": FileKind(create_manifest, load_manifest, has_checksum=False),
    "log of a run": FileKind(create_log, load_log, has_checksum=False),
    "store": FileKind(create_store, load_store, has_checksum=False),
}


def damage(data: bytes, rng: random.Random) -> Iterator[tuple[str, bytes]]:
    """Yield damaged versions of the contents of a file, each with a description of the damage."""
    for number in range(NUM_CUTS):
        size = number * len(data) // NUM_CUTS
        yield f"cut off after {size} bytes", data[:size]
    for _ in range(NUM_FLIPS):
        place, bit = rng.randrange(len(data)), rng.randrange(8)
        flipped = bytearray(data)
        flipped[place] ^= 1 << bit
        yield f"bit {bit} of byte {place} flipped", bytes(flipped)


@pytest.mark.parametrize("name", KINDS)
def test_damaged_files(name: str, tmp_path: Path) -> None:
    kind = KINDS[name]
    path = kind.create(tmp_path)
    data, expected = path.read_bytes(), kind.load(path)
    num_refused = 0
    for what, damaged in damage(data, random.Random(name)):
        for other in path.parent.glob(f"{path.name}-*"):  # a log of SQLite
            other.unlink()
        path.write_bytes(damaged)
        message = ""
        try:
            result = kind.load(path)
        except ZermeloError as error:
            message = str(error)
            num_refused += 1
        except Exception as error:
            error.add_note(f"{name}: {what}")
            raise
        assert "\n" not in message, what
        assert message or not kind.has_checksum or result == expected, what
    assert num_refused or not kind.has_checksum
