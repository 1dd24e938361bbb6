"""A recipe: everything that defines a training except its seed."""

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from zermelo.learn.config.learning import (
    CheckpointConfig,
    LearningConfig,
    ReplayConfig,
    ShapingConfig,
)
from zermelo.learn.config.network import NetworkConfig
from zermelo.learn.config.selfplay import ActingConfig, HybridSearchConfig, SelfPlayConfig

KINDS = ("dqn", "tabular", "supervised", "value", "alphazero")  #: of trainers


@dataclass(frozen=True)
class Recipe:
    """A training, with the field names that the tables and keys of its TOML file have."""

    name: str
    game: str
    summary: str = ""
    kind: str = "dqn"  #: the trainer, one of KINDS
    encoder: str = "cells"
    first_move: str = "free"  #: or "centre": the first player must begin there
    network: NetworkConfig = field(default_factory=NetworkConfig)
    learning: LearningConfig = field(default_factory=LearningConfig)
    acting: ActingConfig = field(default_factory=ActingConfig)
    replay: ReplayConfig = field(default_factory=ReplayConfig)
    shaping: ShapingConfig = field(default_factory=ShapingConfig)
    keeping: CheckpointConfig = field(default_factory=CheckpointConfig)
    searching: HybridSearchConfig = field(default_factory=HybridSearchConfig)
    selfplay: SelfPlayConfig = field(default_factory=SelfPlayConfig)  #: of AlphaZero

    def to_json(self) -> dict[str, Any]:
        """Return the recipe as nested dicts, for files and for comparison."""
        return dataclasses.asdict(self)
