"""Published results, in a folder beside the checkout; without it their tests are skipped."""

import json
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[3] / "shared" / "truth"


def lines(name: str) -> list[str]:
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"no {name} beside this checkout: these facts are not shipped")
    return path.read_text(encoding="utf-8").splitlines()


def records(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines(name)]
