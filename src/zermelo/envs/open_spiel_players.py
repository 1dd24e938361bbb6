"""Adapters that make OpenSpiel bots Zermelo players, and Zermelo players OpenSpiel bots."""

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

_NUM_SEEDS = 1 << 31  # seeds in OpenSpiel are C ints
_TREE_MEGABYTES = 1000


def open_spiel_name(game: Game) -> str | None:
    """Return the name of the OpenSpiel game with the same rules and actions, or None.

    >>> import zermelo as z
    >>> open_spiel_name(z.game("gomoku6")), open_spiel_name(z.game("squava"))
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
    # OpenSpiel's mnk also supports square boards, but is much slower.
    return "tic_tac_toe" if rows == win == 3 else f"gomoku(size={rows},connect={win})"


def load_open_spiel_game(game: Game) -> Any:
    """Return OpenSpiel's own game with the same rules or, if it has none, register this game."""
    name = open_spiel_name(game)
    if name is None:
        from zermelo.envs import open_spiel_games

        name = open_spiel_games.register(game.spec)
    return pyspiel.load_game(name)


class OpenSpielPlayer(Player):
    """An OpenSpiel bot: `mcts`, with one random rollout for each simulation, or `random`."""

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
        self.seed = random.randrange(_NUM_SEEDS) if seed is None else seed % _NUM_SEEDS
        options = f",sims={sims}" if bot == "mcts" else ""
        self.name = f"openspiel:{bot}{options}" + ("" if seed is None else f",seed={seed}")
        self._game: Game | None = None
        self._spiel_game: Any = None
        self._bots: list[Any] = []
        self._seconds: float | None = None  # time limit that the current bots were created with

    def reseed(self, seed: int) -> None:
        """Set the seed; new bots with this seed are created for the next move."""
        self.seed = seed % _NUM_SEEDS
        self._game = None

    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        """Yield one analysis. Raise ZermeloError if the moves before the position are unknown."""
        if position.history is None:
            msg = "openspiel needs all moves from the initial position: a board is not enough"
            raise ZermeloError(msg)
        begin = time.perf_counter()
        seconds = min(filter(None, (self.seconds, limit.seconds)), default=None)
        if self._game != position.game or self._seconds != seconds:
            self._game, self._seconds = position.game, seconds
            self._spiel_game = load_open_spiel_game(position.game)
            self._bots = [self._create_bot(side) for side in (0, 1)]
        state = self._spiel_game.new_initial_state()
        for action in position.history:
            state.apply_action(action)
        bot = self._bots[position.player]
        if self.bot == "mcts":
            candidates = _root_candidates(position, bot.mcts_search(state))
        else:
            move = position.to_move_text(bot.step(state))
            candidates = [Candidate(move, estimate=0.0, best=True, pv=(move,))]
        yield Analysis.from_candidates(
            candidates,
            nodes=sum(candidate.visits or 0 for candidate in candidates),
            seconds=time.perf_counter() - begin,
            source=f"openspiel {self.bot}",
        )

    def _create_bot(self, side: int) -> Any:
        if self.bot == "random":
            return pyspiel.make_uniform_random_bot(side, self.seed + side)
        evaluator = pyspiel.RandomRolloutEvaluator(1, self.seed + side)
        return pyspiel.MCTSBot(
            self._spiel_game, evaluator, self.c, self.sims, _TREE_MEGABYTES, self.solver,
            self.seed + side, False,  # noqa: FBT003 - not verbose; MCTSBot has no keywords here
            max_wall_clock_time=self._seconds or -1.0,
        )  # fmt: skip


def _root_candidates(position: Position, root: Any) -> list[Candidate]:
    """Return a candidate for each child of the root; the move that the bot chooses comes first."""
    best = root.best_child().action
    children = sorted(root.children, key=lambda c: (c.action != best, -c.explore_count))
    return [
        Candidate(
            move := position.to_move_text(child.action),
            estimate=child.total_reward / child.explore_count if child.explore_count else 0.0,
            best=child.action == best,
            visits=child.explore_count,
            pv=(move,),
        )
        for child in children
    ]


class ZermeloBot(pyspiel.Bot):
    """A Zermelo player as an OpenSpiel bot.

    It plays the Zermelo game registered with OpenSpiel, or OpenSpiel's game with the same rules.
    """

    def __init__(self, player: str | Player, game: Game, limit: Limit | None = None) -> None:
        super().__init__()
        self.player = load_player(player) if isinstance(player, str) else player
        self.game, self.limit = game, limit

    def step(self, state: Any) -> int:
        """Return the action that the player chooses."""
        position = self.game.start()
        for action in state.history():
            position = position.play_action(action)
        return position.parse(self.player.choose(position, self.limit).move)

    def restart_at(self, state: Any) -> None:
        """Do nothing, since no state is kept between games."""
