"""Engines for bitboard games and for games in plain Python; `engine_for` chooses one."""

import math
from typing import Any

from zermelo.core.game import BoardGame, Game, SolverHooks, WordGame
from zermelo.games.determinism import RuleSampler
from zermelo.search.engine import Engine
from zermelo.search.limits import SearchClock
from zermelo.search.negamax import arrays
from zermelo.search.negamax.searcher import LeafNetwork, NegamaxSearcher, terminal_score

_TABLE_BITS = 19
_MAX_LINE = 64
_MAX_ESTIMATE = 0.99


def engine_for(game: Game) -> Engine:
    """Return the kind of engine that suits a game."""
    if isinstance(game, WordGame):
        return WordEngine(game.hooks)
    if isinstance(game, BoardGame):
        from zermelo.search.large.engine import BoardEngine

        return BoardEngine(game)
    return PlainEngine(game)


class WordEngine(Engine):
    """An engine that runs the negamax kernel; without `ordering` it tries moves in index order."""

    def __init__(
        self, hooks: SolverHooks, network: LeafNetwork | None = None, *, ordering: bool = True
    ) -> None:
        self.hooks, self.game = hooks, hooks.game
        self.win_score, self.ply_cost = hooks.win_score, hooks.ply_cost
        self.scale = hooks.estimate_scale
        # A Reversi score is a disc difference: even a large one may be an estimate, not a proof.
        self.decisive_score = self.win_score // 2 if self.ply_cost else self.win_score
        self.has_exact_distances = hooks.game.is_layered
        # Without symmetry the table holds the best move of the state itself, not of a mirror image.
        self._searcher = NegamaxSearcher(
            hooks, table_bits=_TABLE_BITS, ordering=ordering, symmetry=False, network=network
        )

    def start_iteration(self, depth: int) -> None:
        """Start a new iteration: bounds already in the table become invalid."""
        del depth
        self._searcher.start_generation()
        self._searcher.control[arrays.HIT_HORIZON] = 0
        self.hit_horizon = False

    def clear(self) -> None:
        """Clear the transposition table and the history heuristic."""
        self._searcher.clear()

    def search(self, state: Any, depth: int, alpha: int, beta: int, clock: SearchClock) -> int:
        """Search with the kernel; see `Engine.search`."""
        score = self._searcher.search(state, depth, alpha, beta, clock)
        self.hit_horizon = bool(self._searcher.control[arrays.HIT_HORIZON])
        return score

    def principal_variation(self, state: Any) -> list[int]:
        """Follow the best moves in the table, then append an immediate win if there is one."""
        actions: list[int] = []
        while len(actions) < _MAX_LINE and not self.game.result(state)[0]:
            action = self._searcher.table_move(state)
            if action is None or action not in self.game.actions(state):
                action = self._find_win(state)
                return actions if action is None else [*actions, action]
            actions.append(action)
            state = self.game.play(state, action)
        return actions

    def _find_win(self, state: Any) -> int | None:
        """Return an action that wins immediately, or None if there is none."""
        for action in self.game.actions(state):
            child = self.game.play(state, action)
            is_over, value = self.game.result(child)
            if is_over and value * self.game.turn_sign(state, child) > 0:
                return action
        return None

    def terminal_score(self, state: Any) -> int:
        """Return the score of a state that is over, in Reversi the disc difference."""
        return terminal_score(self.hooks, state)


class PlainEngine(Engine):
    """Alpha-beta in plain Python for any game; `Game.evaluate` estimates states at the horizon."""

    win_score = 1 << 20
    decisive_score = win_score // 2

    def __init__(self, game: Game) -> None:
        self.game = game
        self._sampler = RuleSampler(game)
        if game.has_scores:  # even a large score may be an estimate, not a proof
            self.ply_cost, self.decisive_score = 0, self.win_score
        # (state, depth) → (lower bound, upper bound, best action)
        self._memo: dict[tuple[Any, int], tuple[int, int, int | None]] = {}

    def start_iteration(self, depth: int) -> None:
        """Discard the bounds that earlier iterations have stored."""
        del depth
        self._memo.clear()
        self.hit_horizon = False

    def search(self, state: Any, depth: int, alpha: int, beta: int, clock: SearchClock) -> int:
        """Search by negamax and store the bounds of every state; see `Engine.search`."""
        clock.report(1)
        self._sampler.check(state)
        if depth <= 0:
            self.hit_horizon = True
            return self._estimate(state)
        unknown = (-self.win_score, self.win_score, None)
        low, high, best_action = self._memo.get((state, depth), unknown)
        if low >= beta or low == high:
            return low
        if high <= alpha:
            return high
        best = -self.win_score - 1
        for action in self.game.actions(state):
            child = self.game.play(state, action)
            turn_sign = self.game.turn_sign(state, child)
            if self.game.result(child)[0]:
                child_score = self.terminal_score(child)
            else:
                window = self.child_window(turn_sign, max(alpha, best), beta)
                child_score = self.search(child, depth - 1, *window, clock)
            score = self.parent_score(turn_sign, child_score)
            if score > best:
                best, best_action = score, action
            if best >= beta:
                break
        low, high = (best if best > alpha else low), (best if best < beta else high)
        self._memo[state, depth] = low, high, best_action
        return best

    def _estimate(self, state: Any) -> int:
        """Return the game's own estimate as a score, which `to_estimate` maps back to it."""
        estimate = max(-_MAX_ESTIMATE, min(_MAX_ESTIMATE, float(self.game.evaluate(state))))
        return round(math.atanh(estimate) * self.scale)

    def principal_variation(self, state: Any) -> list[int]:
        """Follow the stored best actions; for each state, use the one from its deepest search."""
        by_depth = sorted(self._memo.items(), key=lambda item: item[0][1])
        best = {memo_state: action for (memo_state, _), (_, _, action) in by_depth}
        actions: list[int] = []
        while len(actions) < _MAX_LINE and (action := best.get(state)) is not None:
            actions.append(action)
            state = self.game.play(state, action)
        return actions
