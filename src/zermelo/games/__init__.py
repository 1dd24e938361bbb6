"""The games: line games, Reversi and users' own games, and a registry that builds them from specs.

Importing the rules does not import numba. Every package above `core` and `kernels` may import this
package.
"""

import sys
from types import ModuleType
from typing import Any


class _CallableModule(ModuleType):
    """The package, which is also the public function `zermelo.games`: it lists the games.

    Once the package is imported, the name `zermelo.games` refers to it.
    """

    def __call__(self) -> list[Any]:
        """Return the entries of all games; see `zermelo.games.registry.list_games`."""
        from zermelo.games import registry

        return registry.list_games()


sys.modules[__name__].__class__ = _CallableModule
