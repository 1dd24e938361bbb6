"""Preparation: compile kernels in other processes while the page is already being served.

Kernels that a client is waiting for come first, then those of a game that somebody has picked,
then those of all other games, so that nobody has to wait for them later.
"""

import threading

from zermelo import precompile
from zermelo.core.game import Game
from zermelo.kernels import compiler
from zermelo.kernels.compiler_pool import Compilation, CompilerPool

_MAX_PREFERRED = 1000


class Preparation:
    """Compiles kernels in the background from `start` to `close`; without `start`, does nothing."""

    def __init__(self) -> None:
        self._pool: CompilerPool | None = None
        self._preferred: set[str] = set()  # games whose kernels have been submitted

    def start(self) -> None:
        """Start the compiler processes, which compile all kernels from now on."""
        self._pool = CompilerPool(in_background=True)
        compiler.use_pool(self._pool)
        threading.Thread(
            target=precompile.submit_all_kernels, args=(self._pool,), daemon=True
        ).start()

    def prefer(self, game: Game) -> None:
        """Compile the kernels of this game before those of others."""
        if self._pool is not None and game.spec not in self._preferred:
            if len(self._preferred) >= _MAX_PREFERRED:
                self._preferred.clear()
            self._preferred.add(game.spec)  # only once, because generating the sources takes 0.2 s
            precompile.submit_kernels(self._pool, game)

    def urgent(self) -> list[Compilation]:
        """Return the unfinished compilations that a client waits for."""
        return [c for c in self.unfinished() if c.is_urgent]

    def unfinished(self) -> list[Compilation]:
        """Return the compilations that are waiting or running."""
        compilations = [] if self._pool is None else self._pool.compilations()
        return [c for c in compilations if not c.done.done()]

    def state(self) -> tuple[str, float] | None:
        """Describe how far the preparation is, for a progress bar; None if there is nothing to do.

        The share is that of all compilations since the start.
        """
        unfinished = self.unfinished()
        if self._pool is None or not unfinished:
            return None
        running = next((c for c in unfinished if c.begin is not None), unfinished[0])
        share = precompile.elapsed_share(self._pool.compilations())
        return f"{running.kernel} for {min(running.games)}", share

    def close(self) -> None:
        """End the compiler processes; kernels not yet compiled will be compiled when needed."""
        if self._pool is not None:
            compiler.use_pool(None)
            self._pool.close()
