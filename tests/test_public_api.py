"""The public API: its names, their types and documentation, and the results that it returns."""

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import zermelo as z
from support import user_script
from support.paths import ROOT

SCRIPT = ROOT / "tests" / "support" / "user_script.py"
INIT = ROOT / "src" / "zermelo" / "__init__.py"


def check_types(script: Path) -> subprocess.CompletedProcess[str]:
    mypy = [sys.executable, "-m", "mypy", "--strict", "--config-file", str(ROOT / "pyproject.toml")]
    return subprocess.run(
        [*mypy, str(script)],
        env={"MYPYPATH": str(ROOT / "src")},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_users_script_with_every_public_name_passes_mypy_strict() -> None:
    used = set(re.findall(r"\bz\.(\w+)", SCRIPT.read_text(encoding="utf-8")))
    assert set(z.__all__) - used == set()
    done = check_types(SCRIPT)
    assert done.stdout.startswith("Success"), done.stdout + done.stderr


def test_type_checkers_refuse_unknown_names(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import zermelo as z\nz.no_such_name\nz.solve(5)\n")
    output = check_types(script).stdout
    assert 'Module has no attribute "no_such_name"' in output
    assert 'Argument 1 to "solve" has incompatible type "int"' in output


def test_the_users_script_runs() -> None:
    user_script.main()


def type_checking_imports() -> Iterator[tuple[str, str, str]]:
    """Yield (module, name in the module, public name) for the imports that type checkers read."""
    tree = ast.parse(INIT.read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        for alias in node.names:
            yield str(node.module), alias.name, alias.asname or alias.name


def test_type_checkers_and_the_interpreter_see_the_same_names() -> None:
    typed = {public: (module, name) for module, name, public in type_checking_imports()}
    homes = {name: (z._MODULES[name], z._DEFINED_AS.get(name, name)) for name in z._MODULES}
    assert typed == homes
    assert sorted(homes) == sorted(z.__all__) == dir(z)
    assert len(z.__all__) == len(set(z.__all__))


@pytest.mark.parametrize("name", z.__all__)
def test_every_public_name_is_documented(name: str) -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    table = page[page.index("## Public names") :]
    assert f"`{name}`" in table
    value = getattr(z, name)
    if name != "Word":  # an alias
        doc = inspect.getdoc(getattr(importlib.import_module(z._MODULES[name]), own_name(name)))
        assert doc
        assert doc.splitlines()[0].endswith((".", ":", ";")) or "\n" in doc, doc
    assert value is not None


def own_name(name: str) -> str:
    """The name that an object has in its module."""
    return z._DEFINED_AS.get(name, name)


def public_callables() -> Iterator[tuple[str, Any]]:
    """Yield every public function, and the methods of every public class."""
    for name in z.__all__:
        value = getattr(importlib.import_module(z._MODULES[name]), own_name(name))
        if inspect.isfunction(value):
            yield name, value
        elif inspect.isclass(value):
            for method, function in vars(value).items():
                function = getattr(function, "__func__", function)  # noqa: PLW2901
                function = getattr(function, "fget", function)  # noqa: PLW2901
                is_public = not method.startswith("_") or method == "__init__"
                is_own = str(getattr(function, "__module__", "")).startswith("zermelo")
                if is_public and is_own and inspect.isfunction(function):
                    yield f"{name}.{method}", function


def test_every_signature_is_fully_annotated() -> None:
    checked = 0
    for name, function in public_callables():
        signature = inspect.signature(function)
        parameters = list(signature.parameters.values())
        if "." in name and parameters and parameters[0].name in ("self", "cls"):
            parameters = parameters[1:]
        missing = [p.name for p in parameters if p.annotation is inspect.Parameter.empty]
        assert missing == [], name
        assert signature.return_annotation is not inspect.Signature.empty, name
        checked += 1
    assert checked > 150


def test_every_error_that_a_public_call_can_raise_is_exported() -> None:
    for module in pkgutil.walk_packages(z.__path__, "zermelo."):
        # The studio and the benchmarks are commands, and not called from Python.
        is_command = module.name.startswith(("zermelo.studio", "zermelo.bench", "zermelo.cli"))
        if not is_command and not module.name.endswith("__main__"):
            importlib.import_module(module.name)

    def subclasses(error: type) -> Iterator[type]:
        for child in error.__subclasses__():
            yield child
            yield from subclasses(child)

    commands = ("zermelo.studio", "zermelo.bench", "zermelo.store.matches")
    names = {
        error.__name__
        for error in subclasses(z.ZermeloError)
        if error.__module__.startswith("zermelo.")
        and not error.__module__.startswith(commands)
        and not error.__name__.startswith("_")  # users see its public base class
    }
    assert len(names) > 15
    assert names - set(z.__all__) == set()


def test_lists_of_games_players_and_recipes() -> None:
    # The packages of the same names are imported by now; the names can still be called.
    assert isinstance(z.games, ModuleType)
    assert {"tictactoe", "reversi"} <= {entry.name for entry in z.games()}
    assert {"perfect", "mcts"} <= {entry.name for entry in z.players()}
    assert [recipe.name for recipe in z.recipes()] == sorted(recipe.name for recipe in z.recipes())
    for entry in (*z.games(), *z.players(), *z.recipes()):
        assert entry.name in repr(entry)
        assert entry.to_dict()["name"] == entry.name
        assert "\n" not in repr(entry)
    code = "import zermelo as z; print(len(z.games()) + len(z.players()))"
    fresh = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(fresh.stdout) == len(z.games()) + len(z.players())


# Results


def results() -> dict[str, Any]:
    start = z.game("tictactoe").start()
    players = [user_script.first_move, user_script.last_action]
    return {
        "solution": z.solve(start),
        "analysis": z.analyze(start),
        "counts": z.count("tictactoe"),
        "grade": z.grade("tictactoe", user_script.first_move),
        "tournament": z.tournament("tictactoe", players, games=2),
        "puzzle": z.puzzle("connect4", 3),
        "review": z.review(z.match("tictactoe", "b2 b1"))[-1],
        "rules": z.rules("tictactoe"),
    }


@pytest.fixture(scope="module", name="results")
def results_fixture() -> dict[str, Any]:
    return results()


def test_results_have_short_reprs(results: dict[str, Any]) -> None:
    for result in results.values():
        text = repr(result)
        assert text.startswith("<")
        assert len(text.splitlines()) == 1
        assert len(text) < 120
    assert repr(results["counts"]) == "<counts of tictactoe: 5,478 states in 9 plies>"
    assert repr(results["analysis"].candidates[0]) == "<candidate b2: draw>"
    assert repr(z.player("random:seed=1")) == "<player random:seed=1>"


def test_results_become_dicts(results: dict[str, Any]) -> None:
    fields = {name: result.to_dict() for name, result in results.items()}
    assert fields["solution"]["game"] == fields["analysis"]["game"] == "tictactoe"
    assert fields["solution"]["value"] == fields["analysis"]["value"] == "draw"
    assert len(fields["analysis"]["candidates"]) == 9
    assert fields["counts"]["states"] == 5478
    assert fields["counts"]["perft"][:3] == [9, 72, 504]
    assert fields["grade"]["positions"] == 4520
    assert fields["tournament"]["players"] == ["first_move", "last_action"]
    assert fields["review"]["mistake"] == "mistake"


def test_tables_become_data_frames(
    results: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=list))
    candidates = results["analysis"].to_dataframe()
    assert [row["move"] for row in candidates] == [c.move for c in results["analysis"].candidates]
    assert results["counts"].to_dataframe()[1] == {
        "ply": 1, "states": 9, "sequences": 9, "first": 0, "second": 0, "draw": 0,
    }  # fmt: skip
    (row,) = results["grade"].to_dataframe()
    assert (row["set"], row["positions"]) == ("all", 4520)
    standings = results["tournament"].to_dataframe()
    assert {row["player"] for row in standings} == {"first_move", "last_action"}
    assert sum(row["wins"] for row in standings) == sum(row["losses"] for row in standings)


def test_pandas_itself_builds_the_frames(results: dict[str, Any]) -> None:
    pytest.importorskip("pandas", reason="pandas is not installed; a fake one is tested above")
    assert len(results["analysis"].to_dataframe()) == 9


def test_without_pandas_the_error_names_the_package(
    results: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    for name in ("analysis", "counts", "grade", "tournament"):
        with pytest.raises(z.MissingPackage, match="to_dataframe needs pandas: pip install pandas"):
            results[name].to_dataframe()


def test_without_torch_the_error_names_the_package() -> None:
    code = "import sys; sys.modules['torch'] = None; import zermelo as z; z.train"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "MissingPackage: zermelo.train needs torch: pip install 'zermelo[learn]'" in done.stderr


def test_a_run_has_a_log_and_becomes_a_dict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = user_script.train(tmp_path / "run")
    assert repr(run).startswith("<run of tictactoe-tabular at tictactoe, seed 0: dqn:")
    assert run.to_dict()["state"] == "finished"
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=list))
    assert run.to_dataframe() == run.log
    assert run.log[-1]["update"] == run.to_dict()["updates"]
    # It has learned to beat the player that always makes the first move, given as a function.
    assert run.recipe.learning.phases[0].opponent == "python:first_move"
    winner = z.match("tictactoe").play_out(run.player, user_script.first_move).winner
    assert winner == 0
