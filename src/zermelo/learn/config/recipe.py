"""The recipe: everything that defines a training run except its seed."""

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
from zermelo.learn.config.selfplay import KEY, ActingConfig, HybridSearchConfig, SelfPlayConfig

KINDS = ("dqn", "tabular", "supervised", "value", "alphazero")  #: the kinds of trainers


@dataclass(frozen=True)
class Recipe:
    """Settings of a training run. Each field is a table or a key of the recipe's TOML file.

    `recipe_keys` lists the keys.
    """

    name: str
    game: str
    summary: str = ""
    kind: str = "dqn"  #: the trainer, one of KINDS
    encoder: str = "cells"
    first_move: str = "free"  #: "free", or "centre" if every game begins in the centre
    network: NetworkConfig = field(default_factory=NetworkConfig)
    learning: LearningConfig = field(default_factory=LearningConfig)
    acting: ActingConfig = field(default_factory=ActingConfig)
    replay: ReplayConfig = field(default_factory=ReplayConfig)
    shaping: ShapingConfig = field(default_factory=ShapingConfig)
    keeping: CheckpointConfig = field(default_factory=CheckpointConfig)
    searching: HybridSearchConfig = field(default_factory=HybridSearchConfig)
    selfplay: SelfPlayConfig = field(default_factory=SelfPlayConfig)  #: used by AlphaZero only

    @property
    def method(self) -> str:
        """The learning method, named as in player specs: `hybrid` for recipes of kind `value`."""
        return {"value": "hybrid"}.get(self.kind, self.kind)

    def to_dict(self) -> dict[str, Any]:
        """Return the recipe as nested dicts with the same keys as in TOML files."""
        table = _to_dict(self)
        assert isinstance(table, dict)
        return table

    def __repr__(self) -> str:
        """Return the name, the kind, the game and the summary in angle brackets."""
        summary = f": {self.summary}" if self.summary else ""
        return f"<recipe {self.name}, {self.kind} for {self.game}{summary}>"


def recipe_keys(table: type) -> dict[str, str]:
    """Return {key in recipe files: field name} for the class that represents a recipe table."""
    return {f.metadata.get(KEY, f.name): f.name for f in dataclasses.fields(table)}


def _to_dict(value: object) -> object:
    if dataclasses.is_dataclass(value):
        keys = recipe_keys(type(value))
        return {key: _to_dict(getattr(value, name)) for key, name in keys.items()}
    return tuple(map(_to_dict, value)) if isinstance(value, tuple) else value
