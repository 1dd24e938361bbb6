"""OpenSpiel's bots as our players, and our players as its bots."""

import random
import time
from collections.abc import Iterator
from typing import Any

from zermelo.core.errors import BadSpec, ZermeloError
from zermelo.core.game import Game
from zermelo.core.player import Analysis, Candidate, Limit, Player
from zermelo.core.position import Position
from zermelo.games.lines.renju import RenjuGame
from zermelo.games.lines.rules import LineGame
from zermelo.games.reversi.rules import Reversi
from zermelo.players.registry import load_player

try:
    import pyspiel
except ImportError:
    _MSG = "OpenSpiel is not installed: pip install open_spiel"
    raise ZermeloError(_MSG) from None

_SEEDS = 1 << 31  # its seeds are C ints
_MEGABYTES = 1000  # of tree


def native_name(game: Game) -> str | None:
    """The game of OpenSpiel's own with these rules and the same actions, if it has one.

    >>> import zermelo as z
    >>> native_name(z.game("gomoku6")), native_name(z.game("squava"))
    ('gomoku(size=6,connect=4)', None)
    """
    if isinstance(game, Reversi):
        return "othello" if game.size == 8 else None
    if not isinstance(game, LineGame) or isinstance(game, RenjuGame):
        return None
    if game.lose or game.exact or game.pie:
        return None
    rows, cols, win = game.rows, game.cols, game.win
    if game.gravity:
        return f"connect_four(rows={rows},columns={cols},x_in_row={win})"
    if rows != cols:
        return f"mnk(m={cols},n={rows},k={win})"
    # Its mnk has these too, but is much slower.
    return "tic_tac_toe" if rows == win == 3 else f"gomoku(size={rows},connect={win})"


def load(game: Game) -> Any:
    """The game in OpenSpiel: its own where there is one, else ours registered there."""
    name = native_name(game)
    if name is None:
        from zermelo.envs import open_spiel_games

        name = open_spiel_games.register(game.spec)
    return pyspiel.load_game(name)


class OpenSpielPlayer(Player):
    """One of its bots: `mcts`, with one random rollout a simulation, or `random`."""

    def __init__(
        self,
        bot: str,
        sims: int,
        seconds: float | None,
        c: float,
        solver: bool,
        seed: int | None = None,
    ) -> None:
        if sims < 2:
            msg = f"openspiel: sims is {sims}: it must be 2 or more"
            raise BadSpec(msg)
        self.bot, self.sims, self.seconds, self.c, self.solver = bot, sims, seconds, c, solver
        self.seed = random.randrange(_SEEDS) if seed is None else seed % _SEEDS
        more = f",sims={sims}" if bot == "mcts" else ""
        self.name = f"openspiel:{bot}{more}" + ("" if seed is None else f",seed={seed}")
        self._game: Game | None = None
        self._theirs: Any = None
        self._bots: list[Any] = []
        self._within: float | None = None  # seconds

    def reseed(self, seed: int) -> None:
        """Bots made anew."""
        self.seed = seed % _SEEDS
        self._game = None

    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        """One answer."""
        if position.history is None:
            msg = "openspiel needs the moves from the start: a board alone will not do"
            raise ZermeloError(msg)
        begin = time.perf_counter()
        within = min(filter(None, (self.seconds, limit.seconds)), default=None)
        if self._game != position.game or self._within != within:
            self._game, self._theirs = position.game, load(position.game)
            self._within = within
            self._bots = [self._make(side) for side in (0, 1)]
        state = self._theirs.new_initial_state()
        for action in position.history:
            state.apply_action(action)
        bot = self._bots[position.player]
        if self.bot == "mcts":
            candidates = self._searched(position, bot.mcts_search(state))
        else:
            move = position.game.to_text(bot.step(state))
            candidates = [Candidate(move, estimate=0.0, best=True, pv=(move,))]
        yield Analysis.from_candidates(
            candidates,
            nodes=sum(candidate.visits or 0 for candidate in candidates),
            seconds=time.perf_counter() - begin,
            source=f"openspiel {self.bot}",
        )

    def _make(self, side: int) -> Any:
        if self.bot == "random":
            return pyspiel.make_uniform_random_bot(side, self.seed + side)
        evaluator = pyspiel.RandomRolloutEvaluator(1, self.seed + side)
        return pyspiel.MCTSBot(
            self._theirs, evaluator, self.c, self.sims, _MEGABYTES, self.solver,
            self.seed + side, False,  # noqa: FBT003 - its own order: quiet
            max_wall_clock_time=self._within or -1.0,
        )  # fmt: skip

    @staticmethod
    def _searched(position: Position, root: Any) -> list[Candidate]:
        """Its root's children, its own choice first."""
        best = root.best_child().action
        children = sorted(root.children, key=lambda c: (c.action != best, -c.explore_count))
        return [
            Candidate(
                move := position.game.to_text(child.action),
                estimate=child.total_reward / child.explore_count if child.explore_count else 0.0,
                best=child.action == best,
                visits=child.explore_count,
                pv=(move,),
            )
            for child in children
        ]


class Bot(pyspiel.Bot):
    """A player of ours that sits at OpenSpiel's table, for a game of ours.

    `state` may be of the game registered there or of OpenSpiel's own with the same rules.
    """

    def __init__(self, player: str | Player, game: Game, limit: Limit | None = None) -> None:
        super().__init__()
        self.player = load_player(player) if isinstance(player, str) else player
        self.game, self.limit = game, limit

    def step(self, state: Any) -> int:
        """The action it chooses."""
        position = self.game.start()
        for action in state.history():
            position = position.play_action(action)
        return position.parse(self.player.choose(position, self.limit).move)

    def restart_at(self, state: Any) -> None:
        """Nothing is kept between games."""
