"""How training games are played: the tables `[acting]`, `[searching]` and `[selfplay]`."""

from dataclasses import dataclass, field

#: selection in AlphaZero's search: Gumbel AlphaZero (Danihelka et al. 2022), or PUCT as in
#: AlphaZero itself (Silver et al. 2018)
GUMBEL, PUCT = "gumbel", "puct"
SEARCH_RULES = (GUMBEL, PUCT)
#: inputs of AlphaZero's networks: the stones alone, or with them the lines they occupy
POLICY_VALUE_ENCODERS = ("cells", "lines")

KEY = "key"  #: in the metadata of a field: its key in recipes, if that is not its name


@dataclass(frozen=True)
class ActingConfig:
    """How the games of a Q-learner or of a value learner are played."""

    games: int = 64  #: in parallel
    gamma: float = 1.0
    steps: int = 1  #: own moves that a transition spans
    response: bool = False  #: learn a best response to the opponent instead of optimal play
    seats: tuple[int, ...] = (0, 1)  #: the learner's seats, assigned to the games in rotation
    sampled: float = 0.0  #: share of games that begin at random positions
    opening: tuple[int, ...] = ()  #: actions that begin every game

    @property
    def span(self) -> int:
        """The number of plies of a transition."""
        return 2 * self.steps if self.response else self.steps

    def discount(self, ply: int) -> float:
        """Return the discount of the reward at that ply of a transition, sign included."""
        if self.response:
            return float((-1) ** ply * self.gamma ** (ply // 2))
        return float((-self.gamma) ** ply)


@dataclass(frozen=True)
class HybridSearchConfig:
    """How alpha-beta with a value network at its leaves searches, in training and in play."""

    targets: str = "search"  #: learning targets: "search" values, or n-step returns with "steps"
    depth: int = 3  #: search depth in training …
    late: int = 64  #: … and once this many stones are on the board …
    late_depth: int = 8  #: … this depth
    games: int = 1  #: played for each batch
    opening: int = 10  #: games from random positions begin after fewer random plies than this
    network: float = 1.0  #: weight of the network in an evaluation, in training …
    heuristic: float = 0.0  #: … and of the heuristic
    play_depth: int = 4  #: search depth in play
    play_network: float = 1.0
    play_heuristic: float = 0.0
    published: bool = False  #: use the move ordering and heuristic published for Squava


@dataclass(frozen=True)
class SelfPlayConfig:
    """How the games of AlphaZero are played, and how it searches in play."""

    games: int = 256  #: in parallel
    plies: int = 32  #: of each game in one rollout; finished games are replaced by new ones
    simulations: tuple[int, ...] = (16, 32)  #: for each equal share of the training
    considered: int = 16  #: actions considered at the root
    rule: str = GUMBEL  #: one of SEARCH_RULES
    capped: float = 0.0  #: share of plies with a quarter of the simulations, not learned from
    starts: float = 0.3  #: share of games that begin at random positions …
    start_plies: int = 12  #: … after at most so many plies
    #: share of moves that are sampled uniformly
    exploration: float = field(default=0.1, metadata={KEY: "curious"})
    #: of the value targets: weight of the next target against the next search value
    td_lambda: float = field(default=0.9, metadata={KEY: "mixed"})
    updates: int = 32  #: for each rollout
    play_simulations: int = 64  #: in play
    images: int = 1  #: symmetric images whose evaluations are averaged in play

    def simulations_at(self, progress: float) -> int:
        """Return the number of simulations at that share of the training."""
        return self.simulations[
            min(int(progress * len(self.simulations)), len(self.simulations) - 1)
        ]
