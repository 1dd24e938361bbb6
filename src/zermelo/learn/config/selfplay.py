"""Settings of training games: the recipe tables `[acting]`, `[searching]` and `[selfplay]`."""

from dataclasses import dataclass, field

#: rules by which AlphaZero's search selects actions: the rule of Gumbel AlphaZero (Danihelka et al.
#: 2022), or PUCT as in the original AlphaZero (Silver et al. 2018)
GUMBEL, PUCT = "gumbel", "puct"
SEARCH_RULES = (GUMBEL, PUCT)
#: inputs of AlphaZero's networks: the stones alone, or also features of the lines they occupy
POLICY_VALUE_ENCODERS = ("cells", "lines")

#: entry in a field's metadata: the field's key in recipes, if it differs from the field's name
KEY = "key"


@dataclass(frozen=True)
class ActingConfig:
    """Settings of the training games of a Q-learner or value learner."""

    games: int = 64  #: number of games played in parallel
    gamma: float = 1.0
    steps: int = 1  #: number of the learner's moves that a transition spans
    response: bool = False  #: learn a best response to the opponent instead of optimal play
    seats: tuple[int, ...] = (0, 1)  #: seats that the learner takes in turn (0: moves first)
    sampled: float = 0.0  #: share of games that begin at random positions
    opening: tuple[int, ...] = ()  #: first actions of every game from the initial position

    @property
    def span(self) -> int:
        """The number of plies that a transition spans, unless the game ends earlier."""
        return 2 * self.steps if self.response else self.steps

    def discount(self, ply: int) -> float:
        """Return the discount of the reward at ply `ply` of a transition, counted from 0.

        Its sign depends on who moves at that ply: see `zermelo.learn.dqn.selfplay`.
        """
        return float(self.gamma ** (ply // 2 if self.response else ply))


@dataclass(frozen=True)
class HybridSearchConfig:
    """Settings of alpha-beta search with a value network at its leaves, in training and in play."""

    targets: str = "search"  #: learning targets: "search" values or n-step returns ("steps")
    depth: int = 3  #: search depth in training
    late: int = 64  #: number of stones on the board from which `late_depth` replaces `depth`
    late_depth: int = 8
    games: int = 1  #: number of games played per update of the network
    opening: int = 10  #: random starting positions have fewer plies than this
    network: float = 1.0  #: weight of the network in leaf evaluations in training
    heuristic: float = 0.0  #: weight of the heuristic in leaf evaluations in training
    play_depth: int = 4  #: search depth in play
    play_network: float = 1.0  #: weight of the network in play
    play_heuristic: float = 0.0  #: weight of the heuristic in play
    published: bool = False  #: use the move ordering and heuristic published for Squava


@dataclass(frozen=True)
class SelfPlayConfig:
    """Settings of AlphaZero's training games, and of its search in play."""

    games: int = 256  #: number of games played in parallel
    plies: int = 32  #: plies played in each game per rollout; new games replace finished ones
    #: simulations per move: each number applies to an equal part of the training
    simulations: tuple[int, ...] = (16, 32)
    considered: int = 16  #: number of actions considered at the root
    rule: str = GUMBEL  #: one of SEARCH_RULES
    #: share of plies that are searched with a quarter of the simulations and not used for learning
    capped: float = 0.0
    starts: float = 0.3  #: share of games that begin at random positions
    start_plies: int = 12  #: maximum number of plies before a random position
    #: share of moves that are sampled uniformly at random
    exploration: float = field(default=0.1, metadata={KEY: "curious"})
    #: lambda of the TD(lambda) value targets: 0 uses the next search value, 1 the game's result
    td_lambda: float = field(default=0.9, metadata={KEY: "mixed"})
    updates: int = 32  #: number of updates per rollout
    play_simulations: int = 64  #: simulations per move in play
    images: int = 1  #: number of symmetric images whose evaluations are averaged in play

    def simulations_at(self, progress: float) -> int:
        """Return the simulations per move when the fraction `progress` of training is complete."""
        return self.simulations[
            min(int(progress * len(self.simulations)), len(self.simulations) - 1)
        ]
