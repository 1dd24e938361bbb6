"""Weights in fewer bits."""

from pathlib import Path

import numpy as np
import pytest

import zermelo as z
from zermelo.learn.models import model
from zermelo.learn.networks import weights_file
from zermelo.learn.networks.packing import BITS, packed, unpacked
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
def test_back_to_what_they_were(bits: int) -> None:
    """Within half a step, and a row of eight bits has 127 of them on each side."""
    arrays = layers()
    found = unpacked(HERE, packed(arrays, bits))
    assert set(found) == set(arrays)
    assert np.array_equal(found["states"], arrays["states"])
    for name, array in arrays.items():
        rows = array.reshape(len(array), -1).astype(float)
        most = np.abs(rows).max(1, keepdims=True)
        off = np.abs(found[name].reshape(rows.shape) - rows)
        assert (off <= most * {32: 0, 16: 1e-3, 8: 0.5001 / 127}[bits]).all()


def test_sizes() -> None:
    arrays = {"full.weight": np.ones((100, 100), np.float32)}
    bytes_of = {b: sum(a.nbytes for a in packed(arrays, b).values()) for b in BITS}
    assert bytes_of == {32: 40_000, 16: 20_000, 8: 10_400}


def test_a_model_in_eight_bits_plays_as_before(tmp_path: Path) -> None:
    arrays, about = weights_file.read(model.find("tictactoe-dqn"))
    weights_file.write(tmp_path / "small.safetensors", packed(arrays, 8), about)
    assert z.grade("tictactoe", f"dqn:{tmp_path / 'small.safetensors'}").total.mistakes == 0


def test_what_does_not_fit(tmp_path: Path) -> None:
    arrays, about = weights_file.read(model.find("tictactoe-dqn"))
    name = "full0.weight.scale"
    for scale, problem in (
        (np.ones(3, np.float32), "full0.weight.scale does not fit"),
        (np.full(128, np.nan, np.float32), "full0.weight holds what is no number"),
    ):
        weights_file.write(tmp_path / "bad.safetensors", packed(arrays, 8) | {name: scale}, about)
        with pytest.raises(BadWeights, match=problem):
            model.Model(str(tmp_path / "bad.safetensors"), z.game("tictactoe"))
    alone = arrays | {"nothing.scale": np.ones(1, np.float32)}
    weights_file.write(tmp_path / "bad.safetensors", alone, about)
    with pytest.raises(BadWeights, match=r"nothing\.scale is"):
        model.Model(str(tmp_path / "bad.safetensors"), z.game("tictactoe"))
    whole = arrays | {name: np.ones(128, np.float32)}  # fractions have no worth beside them
    weights_file.write(tmp_path / "bad.safetensors", whole, about)
    with pytest.raises(BadWeights, match="does not fit"):
        model.Model(str(tmp_path / "bad.safetensors"), z.game("tictactoe"))
