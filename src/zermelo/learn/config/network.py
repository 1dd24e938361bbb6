"""The architecture of a network: the `[network]` table of a recipe."""

from dataclasses import asdict, dataclass
from typing import Any

from zermelo.core.errors import BadSpec

ACTIVATIONS = ("relu", "tanh", "leaky")
Q_KINDS = ("mlp", "cnn")  #: networks with one output for each action
VALUE_KINDS = ("lines", "residual")  #: networks with one output, the value of the state
TOWER, DENSE = "tower", "dense"
POLICY_VALUE_KINDS = (TOWER, DENSE)  #: networks with a policy head and a value head
_KINDS = (*Q_KINDS, *VALUE_KINDS, *POLICY_VALUE_KINDS)


@dataclass(frozen=True)
class NetworkConfig:
    """Kind and size of a network. Every file of network weights contains this as JSON."""

    kind: str = "mlp"  #: one of Q_KINDS, VALUE_KINDS or POLICY_VALUE_KINDS
    hidden: tuple[int, ...] = (128, 128)  #: widths of fully connected layers, or of a tower's heads
    channels: tuple[int, ...] = ()  #: channels of each 3x3 convolution or each block of a tower
    activation: str = "relu"
    dueling: bool = False
    noisy: bool = False
    dropout: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in _KINDS or self.activation not in ACTIVATIONS:
            msg = (
                f"unknown network: kind {self.kind!r} with activation {self.activation!r}; "
                f"kinds: {', '.join(_KINDS)}; activations: {', '.join(ACTIVATIONS)}"
            )
            raise BadSpec(msg)
        if self.kind in (*VALUE_KINDS, TOWER) and len(self.hidden) != 2:
            msg = f"hidden is {list(self.hidden)}: a {self.kind} network needs exactly two widths"
            raise BadSpec(msg)
        if (self.kind in ("cnn", TOWER)) != bool(self.channels):
            msg = "channels must be given for a cnn or tower network, and for no other"
            raise BadSpec(msg)
        if self.kind == DENSE and (len(set(self.hidden)) != 1 or len(self.hidden) % 2 == 0):
            msg = (
                f"hidden is {list(self.hidden)}: "
                "hidden layers must all have the same width, and their number must be odd"
            )
            raise BadSpec(msg)
        if self.kind == TOWER and len(set(self.channels)) != 1:
            msg = f"channels is {list(self.channels)}: all blocks of a tower must be equally wide"
            raise BadSpec(msg)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values, with tuples as lists."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}
