"""A recipe small enough to train in a test."""

from pathlib import Path

TINY = """
game = "tictactoe"
network = { hidden = [12] }
acting = { games = 8 }
replay = { size = 300 }
learning = { updates = 36, batch = 16, warm_up = 40 }
keeping = { checkpoint = 7, grade = 6 }
"""


def write_recipe(folder: Path, *changes: tuple[str, str], name: str = "tiny") -> Path:
    """Write the tiny recipe, with these replacements in its text, to a file in the folder."""
    path = folder / f"{name}.toml"
    text = TINY
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    return path
