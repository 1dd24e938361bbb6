"""The package as it is shipped: public names, and the wheel in an empty environment."""

import subprocess
import sys
from pathlib import Path

import zermelo as z

ROOT = Path(__file__).parent.parent


def test_public_names_exist() -> None:
    for name in z.__all__:
        assert getattr(z, name) is not None
    assert set(z._MODULES) == set(z.__all__)
    assert dir(z) == sorted(z.__all__)


def test_the_wheel_works_in_an_empty_environment(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path)]
    subprocess.run([*build, str(ROOT)], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    uv = Path(sys.executable).parent / "uv"
    venv = tmp_path / "venv"
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, str(venv)], check=True)
    python = venv / "bin" / "python"
    install = [uv, "pip", "install", "--quiet", "--python", str(python)]
    constraints = ["--constraint", str(ROOT / "constraints.txt")]
    subprocess.run([*install, *constraints, str(wheel)], check=True)
    done = subprocess.run(
        [venv / "bin" / "zermelo", "count", "tictactoe", "--states", "--json"],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert '"states": 5478' in done.stdout
    assert list(venv.rglob("zermelo/py.typed"))
