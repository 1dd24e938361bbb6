"""The games: line games, Reversi and users' own games, and a registry that builds them from specs.

Importing the rules does not import numba. Every package above `core` and `kernels` may import this
package.
"""

import sys
from types import ModuleType
from typing import Any


class _CallableModule(ModuleType):
    """The package, made callable: `zermelo.games()` lists the games.

    Importing the package rebinds the name of the public function `zermelo.games` to the package.
    """

    def __call__(self) -> list[Any]:
        """Return the entries of all games; see `zermelo.games.registry.list_games`."""
        from zermelo.games import registry

        return registry.list_games()


sys.modules[__name__].__class__ = _CallableModule
