"""The games that docs/adding-a-game.md shows."""

import re

from support.paths import ROOT

PAGE = (ROOT / "docs" / "adding-a-game.md").read_text()


MATCHES = re.search(r"```python file=matches.py\n(.*?)```", PAGE, re.DOTALL)[1]  # type: ignore[index]
