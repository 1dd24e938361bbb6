"""Custom networks and encoders in model files: where their code is, and whether it has changed.

Loading such a model needs torch and runs the user's file, so it must only happen for a run that is
named on the command line or in Python. Players that are requested over the network can use only
shipped models (`players.registry.load_builtin_player`), and no shipped model has custom code.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from zermelo.core.errors import BadSpec
from zermelo.core.game import WordGame
from zermelo.learn.batch.custom_encoder import CustomEncoder
from zermelo.learn.batch.encoders import Encoder
from zermelo.learn.config import custom
from zermelo.learn.models.files import check_arrays
from zermelo.learn.networks.weights_file import Array, Arrays, BadWeights

if TYPE_CHECKING:
    from zermelo.learn.networks.custom import CustomPolicyValueNetwork, CustomQNetwork


def has_custom(what: str, metadata: dict[str, Any]) -> bool:
    """Return whether the network or the encoder of a model file is custom."""
    sources = metadata.get(custom.SOURCES)
    return isinstance(sources, dict) and what in sources


def load_encoder(path: Path, metadata: dict[str, Any], game: WordGame) -> Encoder | CustomEncoder:
    """Return the encoder of a Q model; raise BadWeights if its code is missing or has changed."""
    name = metadata.get("encoder")
    if not isinstance(name, str):
        msg = f"{path} does not name its encoder"
        raise BadWeights(msg)
    return load_custom_encoder(path, metadata, game) or Encoder(name, game)


def load_custom_encoder(
    path: Path, metadata: dict[str, Any], game: WordGame
) -> CustomEncoder | None:
    """Return the encoder of a model file if it is custom, else None.

    Raise BadWeights if the code is missing or has changed.
    """
    if not has_custom(custom.ENCODER, metadata):
        return None
    return CustomEncoder(_check_source(path, metadata, custom.ENCODER), game)


def load_q_network(
    path: Path,
    arrays: Arrays,
    metadata: dict[str, Any],
    game: WordGame,
    encoder: Encoder | CustomEncoder,
) -> "CustomQNetwork":
    """Return a custom Q network with the weights of a file."""
    spec = _check_source(path, metadata, custom.NETWORK)
    _check_torch(path)
    from zermelo.learn.networks.custom import build_custom_q_network

    net = build_custom_q_network(spec, game, encoder)
    _load(path, arrays, net)
    return net


def load_policy_value_network(
    path: Path,
    arrays: Arrays,
    metadata: dict[str, Any],
    game: WordGame,
    encoder: CustomEncoder | None,
) -> "CustomPolicyValueNetwork":
    """Return a custom policy-value network with the weights of a file."""
    spec = _check_source(path, metadata, custom.NETWORK)
    _check_torch(path)
    from zermelo.learn.networks.custom import build_custom_policy_value_network

    net = build_custom_policy_value_network(spec, game, encoder)
    _load(path, arrays, net)
    return net


def evaluate_q(net: "CustomQNetwork", inputs: Array) -> Array:
    """Return the Q values [row, action] of encoded states."""
    import torch

    with torch.no_grad():
        x = torch.from_numpy(inputs)
        q: Array = net(x, x).numpy()
    return q


def _check_source(path: Path, metadata: dict[str, Any], what: str) -> str:
    """Return the spec of custom code; raise BadWeights if the code is missing or has changed."""
    recorded = metadata[custom.SOURCES][what]
    if not isinstance(recorded, dict) or not isinstance(recorded.get("sha256"), str | None):
        msg = f"{path} does not say where its {what} is defined"
        raise BadWeights(msg)
    spec = custom.to_spec(recorded)
    try:
        difference = custom.compare_sources(what, recorded, custom.describe_source(what, spec))
    except BadSpec as error:
        msg = f"{path} needs the code of its {what}: {error}"
        raise BadWeights(msg) from None
    if difference:
        msg = f"{path} was trained with different code: {difference}"
        raise BadWeights(msg)
    return spec


def _check_torch(path: Path) -> None:
    try:
        import torch  # noqa: F401
    except ModuleNotFoundError:
        msg = f"{path} has a custom network, which needs torch: pip install 'zermelo[learn]'"
        raise BadWeights(msg) from None


def _load(path: Path, arrays: Arrays, net: "CustomQNetwork | CustomPolicyValueNetwork") -> None:
    shapes = {name: tuple(array.shape) for name, array in net.export().items()}
    check_arrays(path, arrays, shapes)
    net.load(arrays)
    net.eval()
