"""Players: one module for each kind; `registry` creates a player from a spec such as `level:5`.

The interface is in `zermelo.core.player`; learned players live in `zermelo.learn`. This
package may import `search` and everything below it; matches, the arena and the screens import it.
"""

import sys
from types import ModuleType
from typing import Any


class _CallableModule(ModuleType):
    """The package, made callable: `zermelo.players()` lists the players.

    Importing the package rebinds the name of the public function `zermelo.players` to the package.
    """

    def __call__(self) -> list[Any]:
        """Return the entries of all players; see `zermelo.players.registry.list_players`."""
        from zermelo.players import registry

        return registry.list_players()


sys.modules[__name__].__class__ = _CallableModule
