"""The package as it is shipped: public names, and the wheel in an empty environment."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import zermelo as z

ROOT = Path(__file__).parent.parent


def test_public_names_exist() -> None:
    for name in z.__all__:
        assert getattr(z, name) is not None
    assert set(z._MODULES) == set(z.__all__)
    assert dir(z) == sorted(z.__all__)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run([*build, str(ROOT)], check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return path


def find_python(version: str) -> str | None:
    """The path of an interpreter of this version that can be started, if there is one."""
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        return sys.executable
    path = shutil.which(f"python{version}")
    runs = (
        path and not subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode
    )
    return path if runs else None


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_the_wheel_works_in_an_empty_environment(wheel: Path, version: str, tmp_path: Path) -> None:
    interpreter = find_python(version)
    if interpreter is None:
        pytest.skip(f"no Python {version} here")
    uv = Path(sys.executable).parent / "uv"
    venv = tmp_path / "venv"
    subprocess.run([uv, "venv", "--quiet", "--python", interpreter, str(venv)], check=True)
    install = [uv, "pip", "install", "--quiet", "--python", str(venv / "bin" / "python")]
    constraints = ["--constraint", str(ROOT / "constraints.txt")]
    subprocess.run([*install, *constraints, str(wheel)], check=True)

    def run(*arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        command = [venv / "bin" / "zermelo", *arguments]
        return subprocess.run(
            command, input=typed, capture_output=True, text=True, cwd=tmp_path, check=False
        )

    assert '"states": 5478' in run("count", "tictactoe", "--states", "--json").stdout
    assert "X to move" in run("play", "tictactoe", "--second", "level:3", typed="b2\nquit\n").stdout
    assert run("solve", "tictactoe").stdout.startswith("draw")
    assert '"candidates"' in run("analyze", "tictactoe", "--json").stdout
    assert "unbeatable" in run("grade", "tictactoe", "perfect").stdout
    for command, extra in ((["train", "tictactoe-dqn"], "learn"), (["studio"], "studio"),
                           (["window", "tictactoe"], "window")):  # fmt: skip
        failed = run(*command)
        assert failed.returncode == 2
        assert f"pip install 'zermelo[{extra}]'" in failed.stderr
    assert list(venv.rglob("zermelo/py.typed"))
