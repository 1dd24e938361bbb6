"""The architecture of a network: the `[network]` table of a recipe."""

from dataclasses import asdict, dataclass, fields
from typing import Any

from zermelo.core.errors import BadSpec
from zermelo.learn.config import custom
from zermelo.learn.config.custom import Factory

ACTIVATIONS = ("relu", "tanh", "leaky")
MLP, CNN = "mlp", "cnn"
Q_KINDS = (MLP, CNN)  #: networks with one output for each action
VALUE_KINDS = ("lines", "residual")  #: networks with one output, the value of the state
TOWER, DENSE = "tower", "dense"
POLICY_VALUE_KINDS = (TOWER, DENSE)  #: networks with a policy head and a value head
_KINDS = (*Q_KINDS, *VALUE_KINDS, *POLICY_VALUE_KINDS)


@dataclass(frozen=True)
class NetworkConfig:
    """Kind and size of a network. Every file of network weights contains this as JSON."""

    #: one of Q_KINDS, VALUE_KINDS or POLICY_VALUE_KINDS, or a custom network (`config.custom`)
    kind: str = MLP
    hidden: tuple[int, ...] = (128, 128)  #: widths of fully connected layers, or of a tower's heads
    channels: tuple[int, ...] = ()  #: channels of each 3x3 convolution or each block of a tower
    activation: str = "relu"
    dueling: bool = False
    noisy: bool = False
    dropout: float = 0.0

    def __post_init__(self) -> None:
        if self.is_custom:
            self._check_custom()
            return
        if self.kind not in _KINDS or self.activation not in ACTIVATIONS:
            msg = (
                f"unknown network: kind {self.kind!r} with activation {self.activation!r}; "
                f"kinds: {', '.join(_KINDS)}, FILE.py:CLASS or the name of a registered network; "
                f"activations: {', '.join(ACTIVATIONS)}"
            )
            raise BadSpec(msg)
        if self.kind in (*VALUE_KINDS, TOWER) and len(self.hidden) != 2:
            msg = f"hidden is {list(self.hidden)}: a {self.kind} network needs exactly two widths"
            raise BadSpec(msg)
        if (self.kind in (CNN, TOWER)) != bool(self.channels):
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

    @property
    def is_custom(self) -> bool:
        """Whether the network is custom: a user's class or registered factory."""
        return custom.is_custom(custom.NETWORK, self.kind)

    def _check_custom(self) -> None:
        """Raise BadSpec if a setting is given that does not apply to custom networks."""
        for field in fields(self)[1:]:
            value = getattr(self, field.name)
            if value != field.default:
                value = list(value) if isinstance(value, tuple) else value
                msg = (
                    f"network.{field.name} is {value!r}, but {self.kind} is a network of your own: "
                    f"leave {field.name} out"
                )
                raise BadSpec(msg)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values, with tuples as lists."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}


def register_network(name: str, factory: Factory) -> None:
    """Let recipes name a network of yours: `kind = NAME` in the table `[network]`.

    `factory` is a class, or a function, that is called with (input_shape, num_actions) and returns
    a torch module; `zermelo.learn.networks.custom` says what the module must compute. The name is
    known only in this process: actors in other processes need a network in a file, FILE.py:CLASS.
    """
    if name in _KINDS:
        msg = f"{name!r} is one of zermelo's own networks: choose another name"
        raise BadSpec(msg)
    custom.register(custom.NETWORK, name, factory)
