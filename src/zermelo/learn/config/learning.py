"""Learning settings: the recipe tables `[learning]`, `[replay]`, `[shaping]` and `[keeping]`."""

from dataclasses import dataclass, field

from zermelo.learn.config.schedules import LinearSchedule

SELF, LEAGUE = "self", "league"  #: opponents: the learner itself, or earlier versions of it


@dataclass(frozen=True)
class Phase:
    """A phase of the training, with its own opponent and exploration rate."""

    share: float = 1.0  #: share of all updates that are made in this phase
    opponent: str = SELF  #: a player spec, "self", or "league" for earlier versions of the learner
    epsilon: LinearSchedule = field(default_factory=lambda: LinearSchedule(1.0, 0.05))


def phase_at(phases: tuple[Phase, ...], progress: float) -> tuple[Phase, float]:
    """Return (the active phase, the fraction of this phase that is complete).

    `progress` is the fraction of the whole training that is complete.
    """
    begin = 0.0
    for phase in phases:
        if progress < begin + phase.share or phase is phases[-1]:
            return phase, (progress - begin) / phase.share
        begin += phase.share
    raise AssertionError


@dataclass(frozen=True)
class LearningConfig:
    """Hyperparameters of the optimiser and of the learning targets."""

    updates: int = 2000
    batch: int = 256
    rate: LinearSchedule = field(default_factory=lambda: LinearSchedule(1e-3, 1e-5))
    loss: str = "huber"  #: "huber" or "mse"; for a value network also "cross" (cross-entropy)
    clip: float = 10.0  #: maximum norm of the gradient
    double: bool = True
    tau: float = 0.01  #: weight of the online network in a soft update of the target network
    every: int = 1  #: number of updates between two soft updates of the target network
    average: float = 0.99  #: decay of the moving average of the weights; play uses this average
    warm_up: int = 1000  #: number of transitions in the replay buffer before the first update
    moves: int = 1  #: number of moves played in each game between two updates
    league: int = 0  #: updates between two snapshots of the network for the league; 0: no league
    #: train on one canonical image of symmetric states; AlphaZero trains on a random image instead
    canonical: bool = True
    phases: tuple[Phase, ...] = (Phase(),)


@dataclass(frozen=True)
class ReplayConfig:
    """Size of the replay buffer, and the exponents of prioritised replay."""

    size: int = 50_000
    alpha: float = 0.0  #: if above 0, transitions with large TD errors are sampled more often
    beta: float = 0.4


@dataclass(frozen=True)
class ShapingConfig:
    """Potential-based reward shaping; see `zermelo.learn.batch.shaping`."""

    name: str = ""  #: "patterns", or empty for no shaping
    #: the weight of the shaping rewards over the course of training
    fade: LinearSchedule = field(default_factory=lambda: LinearSchedule(1.0, 0.0))


@dataclass(frozen=True)
class CheckpointConfig:
    """How many updates there are between two checkpoints, and between two gradings."""

    checkpoint: int = 1000
    grade: int = 250
