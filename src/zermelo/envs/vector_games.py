"""The running games of a vector environment: a kernel plays bitboard games, Python all others."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from zermelo.core.game import Game, WordGame
from zermelo.core.position import Position
from zermelo.envs import opponents, vector_kernel
from zermelo.envs.opponents import NO_OPPONENT, PLAYER, GreedyTables, Opponent
from zermelo.envs.planes import Planes
from zermelo.envs.vector_kernel import NO_WINNER, VectorArrays
from zermelo.games.lines.rules import LineGame
from zermelo.games.state_layout import is_mover_first
from zermelo.kernels.compiler import compile_kernel

Seat = int | str  #: 0, 1 or "both"
BOTH = "both"


@dataclass
class StepArrays:
    """What one step of all games returns; every array has one row for each environment."""

    observations: NDArray[np.int8]  #: [env, plane, row, column]
    final_observations: NDArray[np.int8]  #: the same for games that have ended; [0, …] if unused
    masks: NDArray[np.int8]  #: [env, action]: the legal actions; all zeros in a finished game
    rewards: NDArray[np.float64]  #: the agent's rewards: 1, 0 or -1
    terminations: NDArray[np.bool_]  #: whether the step has ended a game
    winners: NDArray[np.int8]  #: the player who has won, or -1
    illegal: NDArray[np.bool_]  #: whether the agent has lost by an illegal action


@dataclass
class GamesConfig:
    """The settings of a batch of games; `Planes` has checked the game and its planes."""

    planes: Planes
    num_envs: int
    opponent: Opponent
    seat: Seat = 0
    same_step: bool = False  #: whether a new game begins in the step that ends the old one
    copy: bool = True  #: whether every step returns new arrays

    @property
    def game(self) -> Game:
        """The rules."""
        return self.planes.game

    def first_seats(self) -> NDArray[np.int8]:
        """Return the seats before the first game; with `both`, every game begins with a change."""
        if self.seat == BOTH:
            return (1 - np.arange(self.num_envs) % 2).astype(np.int8)
        return np.full(self.num_envs, self.seat, np.int8)

    def create_arrays(self) -> StepArrays:
        """Return new arrays for the results of a step."""
        size, shape = self.num_envs, (self.num_envs, *self.planes.shape)
        return StepArrays(
            observations=np.empty(shape, np.int8),
            final_observations=np.empty(shape if self.same_step else (0, *shape[1:]), np.int8),
            masks=np.empty((size, self.game.num_actions), np.int8),
            rewards=np.empty(size),
            terminations=np.empty(size, np.bool_),
            winners=np.empty(size, np.int8),
            illegal=np.empty(size, np.bool_),
        )


class Games(Protocol):
    """The interface through which an environment plays its games."""

    seats: NDArray[np.int8]  #: [env]: the agent's seat; in self-play, the side to move
    over: NDArray[np.bool_]  #: [env]: whether the game is over; the next step begins a new one

    def seed(self, rows: NDArray[np.bool_], seeds: NDArray[np.uint64]) -> None:
        """Seed the opponents of the marked games, [env], and let the agent begin in its seat."""

    def reset(self) -> StepArrays:
        """Begin a new game wherever `over` is set; play nothing."""

    def step(self, actions: NDArray[np.int64]) -> StepArrays:
        """Play the agent's actions and the opponent's replies; begin new games."""

    def position(self, row: int) -> Position:
        """Return the position of one game."""


def create_games(config: GamesConfig) -> Games:
    """Return KernelGames if the game and its opponent allow it, otherwise PlainGames."""
    game, opponent = config.game, config.opponent
    if not isinstance(game, WordGame) or not is_mover_first(game) or opponent.kind == PLAYER:
        return PlainGames(config)
    needs_cells = opponent.kind == opponents.GREEDY or config.planes.count == 4
    if needs_cells and not opponents.has_fixed_cells(game):
        return PlainGames(config)
    return KernelGames(config)


class KernelGames:
    """Bitboard games: one call of a kernel advances them all."""

    def __init__(self, config: GamesConfig) -> None:
        game, size = config.game, config.num_envs
        assert isinstance(game, WordGame)
        self._config, self._game = config, game
        self._run = compile_kernel(vector_kernel.step_games, game)
        self.seats, self.over = config.first_seats(), np.ones(size, np.bool_)
        self._states: NDArray[np.uint64] = np.zeros((size, game.num_words), np.uint64)
        self._rngs: NDArray[np.uint64] = np.zeros(size, np.uint64)
        self._no_actions: NDArray[np.int64] = np.zeros(size, np.int64)
        self._arrays = None if config.copy else config.create_arrays()
        tables = GreedyTables.of_game(game)
        self._options = _kernel_options(config, tables)
        cells = [-1 if cell is None else cell for cell in opponents.action_cells(game)]
        self._constants = (
            self._options,
            tables.lines,
            tables.distances,
            np.array(cells, np.int64),
        )

    def seed(self, rows: NDArray[np.bool_], seeds: NDArray[np.uint64]) -> None:
        """Seed the opponents of the marked games, [env], and let the agent begin in its seat."""
        self._rngs[rows] = opponents.first_random_words(self._config.opponent, seeds)[rows]
        self.seats[rows] = self._config.first_seats()[rows]

    def reset(self) -> StepArrays:
        """Begin a new game wherever `over` is set; play nothing."""
        self._options[vector_kernel.RESET_ONLY] = 1
        arrays = self.step(self._no_actions)
        self._options[vector_kernel.RESET_ONLY] = 0
        return arrays

    def step(self, actions: NDArray[np.int64]) -> StepArrays:
        """Play the agent's actions and the opponent's replies; begin new games."""
        arrays = self._arrays or self._config.create_arrays()
        size, (planes, rows, cols) = self._config.num_envs, self._config.planes.shape
        finals = arrays.final_observations
        packed = VectorArrays(
            *self._constants,
            self._states,
            self._rngs,
            self.seats,
            self.over,
            arrays.observations.reshape(size, planes, rows * cols),
            finals.reshape(len(finals), planes, rows * cols),
            arrays.masks,
            arrays.rewards,
            arrays.terminations,
            arrays.winners,
            arrays.illegal,
        )
        self._run(actions, tuple(packed))  # numba dispatches a plain tuple faster than a named one
        return arrays

    def position(self, row: int) -> Position:
        """Return the position of one game; its moves are not known."""
        return Position(self._game, tuple(int(word) for word in self._states[row]), None)


def _kernel_options(config: GamesConfig, tables: GreedyTables) -> NDArray[np.int64]:
    options: NDArray[np.int64] = np.zeros(vector_kernel.NUM_OPTIONS, np.int64)
    game = config.game
    options[vector_kernel.OPPONENT] = config.opponent.kind
    options[vector_kernel.SAME_STEP] = config.same_step
    options[vector_kernel.ALTERNATE_SEATS] = config.seat == BOTH
    options[vector_kernel.COUNTS_DISCS] = tables.counts_discs
    options[vector_kernel.HAS_GRAVITY] = isinstance(game, LineGame) and game.gravity
    return options


@dataclass
class _PlainGame:
    position: Position
    rng: int = 0


@dataclass
class PlainGames:
    """Games of any kind with a board, played one after another in plain Python."""

    config: GamesConfig
    seats: NDArray[np.int8] = field(init=False)
    over: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        """Create the games; the first `reset` begins them."""
        self.seats = self.config.first_seats()
        self.over = np.ones(self.config.num_envs, np.bool_)
        start = self.config.game.start()
        self._games = [_PlainGame(start) for _ in range(self.config.num_envs)]
        self._arrays = None if self.config.copy else self.config.create_arrays()

    def seed(self, rows: NDArray[np.bool_], seeds: NDArray[np.uint64]) -> None:
        """Seed the opponents of the marked games, [env], and let the agent begin in its seat.

        All games share one player; it gets the first of these seeds.
        """
        opponent = self.config.opponent
        first_words = opponents.first_random_words(opponent, seeds)
        for row in np.flatnonzero(rows):
            self._games[row].rng = int(first_words[row])
        if opponent.player is not None:
            seed = int(seeds[rows][0]) if opponent.seed is None else opponent.seed
            opponent.player.reseed(seed)
        self.seats[rows] = self.config.first_seats()[rows]

    def reset(self) -> StepArrays:
        """Begin a new game wherever `over` is set; play nothing."""
        return self._advance(None)

    def step(self, actions: NDArray[np.int64]) -> StepArrays:
        """Play the agent's actions and the opponent's replies; begin new games."""
        return self._advance([int(action) for action in actions])

    def position(self, row: int) -> Position:
        """Return the position of one game."""
        return self._games[row].position

    def _advance(self, actions: Sequence[int] | None) -> StepArrays:
        arrays = self._arrays or self.config.create_arrays()
        arrays.rewards[:], arrays.terminations[:], arrays.illegal[:] = 0.0, False, False
        arrays.winners[:] = NO_WINNER
        for row in range(self.config.num_envs):
            if self.over[row]:
                self._start(row)
            elif actions is not None:
                self._play(row, actions[row], arrays)
                if self.over[row] and self.config.same_step:
                    arrays.final_observations[row] = self._observe(row)
                    self._start(row)
            self._write(row, arrays)
        return arrays

    def _start(self, row: int) -> None:
        """Begin a new game; the opponent moves if it is first."""
        self.over[row] = False
        self.seats[row] ^= self.config.seat == BOTH
        self._games[row].position = self.config.game.start()
        self._reply(row)

    def _play(self, row: int, action: int, arrays: StepArrays) -> None:
        """Play the agent's action and the opponent's replies; an illegal action loses."""
        game = self._games[row]
        seat = int(self.seats[row])
        if action in game.position.actions:
            game.position = game.position.play_action(action)
            self._reply(row)
            outcome = game.position.outcome
            winner = outcome.winner if outcome else None
            self.over[row] = outcome is not None
        else:
            arrays.illegal[row] = self.over[row] = True
            winner = 1 - seat
        arrays.terminations[row] = self.over[row]
        if winner is not None:
            arrays.winners[row] = winner
            arrays.rewards[row] = 1.0 if winner == seat else -1.0

    def _reply(self, row: int) -> None:
        """Let the opponent move until it is the agent's turn or the game is over."""
        if self.config.opponent.kind == NO_OPPONENT:
            return
        game = self._games[row]
        while not game.position.is_over and game.position.player != self.seats[row]:
            action, game.rng = opponents.choose_reply(self.config.opponent, game.position, game.rng)
            game.position = game.position.play_action(action)

    def _observe(self, row: int) -> NDArray[np.int8]:
        position = self._games[row].position
        is_self_play = self.config.opponent.kind == NO_OPPONENT
        viewer = position.player if is_self_play else int(self.seats[row])
        return self.config.planes.observe(position.state, viewer)

    def _write(self, row: int, arrays: StepArrays) -> None:
        """Write the observation and the mask of one game."""
        position = self._games[row].position
        if self.config.opponent.kind == NO_OPPONENT:
            self.seats[row] = position.player
        arrays.observations[row] = self._observe(row)
        arrays.masks[row] = 0
        if not self.over[row]:
            arrays.masks[row, position.actions] = 1
