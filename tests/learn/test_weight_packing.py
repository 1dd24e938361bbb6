"""Weights in fewer bits."""

from pathlib import Path

import numpy as np
import pytest

import zermelo as z
from zermelo.learn.models import files as model_files
from zermelo.learn.models.packing import BITS, pack_weights, unpack_weights
from zermelo.learn.models.q_model import QModel
from zermelo.learn.networks import weights_file
from zermelo.learn.networks.weights_file import BadWeights

HERE = Path("here")


def layers() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(6, 1)) * 10.0 ** np.arange(-3, 3)[:, None]
    return {
        "full.weight": (rows * rng.normal(size=(6, 50))).astype(np.float32),
        "conv.weight": rng.normal(size=(4, 3, 3, 3)).astype(np.float32),
        "full.bias": rng.normal(size=6).astype(np.float32),
        "dead.weight": np.zeros((2, 5), np.float32),
        "states": np.arange(4, dtype=np.uint64),
    }


@pytest.mark.parametrize("bits", BITS)
def test_unpacked_weights_are_close(bits: int) -> None:
    """Within half a step; with 8 bits a row has 127 steps on each side of 0."""
    arrays = layers()
    unpacked = unpack_weights(HERE, pack_weights(arrays, bits))
    assert set(unpacked) == set(arrays)
    assert np.array_equal(unpacked["states"], arrays["states"])
    for name, array in arrays.items():
        rows = array.reshape(len(array), -1).astype(float)
        largest = np.abs(rows).max(1, keepdims=True)
        error = np.abs(unpacked[name].reshape(rows.shape) - rows)
        assert (error <= largest * {32: 0, 16: 1e-3, 8: 0.5001 / 127}[bits]).all()


def test_packed_sizes() -> None:
    arrays = {"full.weight": np.ones((100, 100), np.float32)}
    sizes = {b: sum(a.nbytes for a in pack_weights(arrays, b).values()) for b in BITS}
    assert sizes == {32: 40_000, 16: 20_000, 8: 10_400}


def test_a_model_in_eight_bits_plays_as_before(tmp_path: Path) -> None:
    arrays, metadata = weights_file.read(model_files.find_model_file("tictactoe-dqn"))
    weights_file.write(tmp_path / "small.safetensors", pack_weights(arrays, 8), metadata)
    assert z.grade("tictactoe", f"dqn:{tmp_path / 'small.safetensors'}").total.mistakes == 0


def test_arrays_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    arrays, metadata = weights_file.read(model_files.find_model_file("tictactoe-dqn"))
    name = "full0.weight.scale"
    for scale, problem in (
        (np.ones(3, np.float32), "full0.weight.scale does not fit"),
        (np.full(128, np.nan, np.float32), "full0.weight contains NaN"),
    ):
        weights_file.write(
            tmp_path / "bad.safetensors", pack_weights(arrays, 8) | {name: scale}, metadata
        )
        with pytest.raises(BadWeights, match=problem):
            QModel(str(tmp_path / "bad.safetensors"), z.game("tictactoe"))
    unused = arrays | {"nothing.scale": np.ones(1, np.float32)}
    weights_file.write(tmp_path / "bad.safetensors", unused, metadata)
    with pytest.raises(BadWeights, match=r"nothing\.scale is"):
        QModel(str(tmp_path / "bad.safetensors"), z.game("tictactoe"))
    scaled = arrays | {name: np.ones(128, np.float32)}  # float32 weights have no scale
    weights_file.write(tmp_path / "bad.safetensors", scaled, metadata)
    with pytest.raises(BadWeights, match="does not fit"):
        QModel(str(tmp_path / "bad.safetensors"), z.game("tictactoe"))
