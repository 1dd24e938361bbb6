"""Engines for word games and for games in plain Python; that for large boards is in `boards`."""

from typing import Any

from zermelo.core.game import BoardGame, Game, SolverHooks, WordGame
from zermelo.search.engine import Engine
from zermelo.search.limits import SearchClock
from zermelo.search.negamax import arrays as a
from zermelo.search.negamax.searcher import LeafNetwork, NegamaxSearcher

_TABLE_BITS = 19
_MAX_LINE = 64
_PLAIN_FAR = 1 << 20


def engine_for(game: Game) -> Engine:
    """The engine that fits a game."""
    if isinstance(game, WordGame):
        return WordEngine(game.hooks)
    if isinstance(game, BoardGame):
        from zermelo.search.large.engine import BoardEngine

        return BoardEngine(game)
    return PlainEngine(game)


class WordEngine(Engine):
    """The solver's kernel, with a horizon; without `ordering` it tries moves as they come."""

    def __init__(
        self, hooks: SolverHooks, net: LeafNetwork | None = None, *, ordering: bool = True
    ) -> None:
        self.hooks, self.game = hooks, hooks.game
        self.far, self.ply_cost = hooks.win_score, hooks.ply_cost
        self.scale = hooks.estimate_scale
        # Reversi is decided by counting at the end: no score proves anything before.
        self.decisive_score = self.far // 2 if self.ply_cost else self.far
        self.has_exact_distances = hooks.game.is_layered
        # Without symmetry a state's best move in the table is its own, so lines can be read off.
        self._searcher = NegamaxSearcher(
            hooks, table_bits=_TABLE_BITS, ordering=ordering, symmetry=False, net=net
        )

    def start_iteration(self, depth: int) -> None:
        """Another generation of the table."""
        del depth
        self._searcher.renew()
        self._searcher.control[a.HIT_HORIZON] = 0
        self.hit_horizon = False

    def clear(self) -> None:
        """No scores, nor moves that were best."""
        self._searcher.clear()

    def search(self, state: Any, depth: int, alpha: int, beta: int, clock: SearchClock) -> int:
        """By the kernel."""
        score = self._searcher.search(state, depth, alpha, beta, clock)
        self.hit_horizon = bool(self._searcher.control[a.HIT_HORIZON])
        return score

    def principal_variation(self, state: Any) -> list[int]:
        """The table's moves, and at the end of the line what wins at once."""
        actions: list[int] = []
        while len(actions) < _MAX_LINE and not self.game.result(state)[0]:
            action = self._searcher.move(state)
            if action is None or action not in self.game.actions(state):
                action = self._last(state)
                return actions if action is None else [*actions, action]
            actions.append(action)
            state = self.game.play(state, action)
        return actions

    def _last(self, state: Any) -> int | None:
        for action in self.game.actions(state):
            over, value = self.game.result(self.game.play(state, action))
            if over and value < 0:
                return action
        return None

    def terminal_score(self, state: Any) -> int:
        """In Reversi the disc difference."""
        return super().terminal_score(state) if self.ply_cost else int(self.hooks.resolve(state)[1])


class PlainEngine(Engine):
    """Alpha-beta as the book has it, for any game of the contract; beyond the horizon all is 0."""

    far = _PLAIN_FAR
    decisive_score = _PLAIN_FAR // 2

    def __init__(self, game: Game) -> None:
        self.game = game
        self._known: dict[Any, tuple[int, int, int | None]] = {}  # low, high, best action

    def start_iteration(self, depth: int) -> None:
        """Forget."""
        del depth
        self._known.clear()
        self.hit_horizon = False

    def search(self, state: Any, depth: int, alpha: int, beta: int, clock: SearchClock) -> int:
        """Negamax with a memo of bounds, by state and depth."""
        clock.report(1)
        if depth <= 0:
            self.hit_horizon = True
            return 0
        low, high, first = self._known.get((state, depth), (-self.far, self.far, None))
        if low >= beta or low == high:
            return low
        if high <= alpha:
            return high
        best, best_action = -self.far - 1, first
        for action in self.game.actions(state):
            child = self.game.play(state, action)
            if self.game.result(child)[0]:
                score = self.parent_score(self.terminal_score(child))
            else:
                window = self.child_bound(beta), self.child_bound(max(alpha, best))
                score = self.parent_score(self.search(child, depth - 1, *window, clock))
            if score > best:
                best, best_action = score, action
            if best >= beta:
                break
        low, high = (best if best > alpha else low), (best if best < beta else high)
        self._known[state, depth] = low, high, best_action
        return best

    def principal_variation(self, state: Any) -> list[int]:
        """From the memo, the deepest first."""
        best = {s: (d, a) for (s, d), (_, _, a) in sorted(self._known.items(), key=_depth)}
        actions: list[int] = []
        while len(actions) < _MAX_LINE and state in best and best[state][1] is not None:
            action = best[state][1]
            assert action is not None
            actions.append(action)
            state = self.game.play(state, action)
        return actions


def _depth(item: tuple[tuple[Any, int], Any]) -> int:
    return item[0][1]
