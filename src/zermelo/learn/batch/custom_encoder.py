"""Custom encoders: any class with a `shape` whose instances turn states into numbers."""

import inspect
import itertools
import math
from typing import Any

import numpy as np

from zermelo.core.errors import BadSpec
from zermelo.core.game import WordGame
from zermelo.games import user_code
from zermelo.games.state_layout import sample_states
from zermelo.learn.batch.encoders import ENCODERS, Encoder
from zermelo.learn.config import custom
from zermelo.learn.config.custom import Factory

_NUM_STATES = 2  # number of states that are encoded to check an encoder


def register_encoder(name: str, factory: Factory) -> None:
    """Let recipes name an encoder of yours: `encoder = NAME`.

    `factory` is a class, or a function, that is called with the game (or without arguments, if it
    takes none). It returns a callable with a `shape`, which turns uint64 states [state, word] into
    float32 numbers [state, *shape].
    """
    if name in ENCODERS:
        msg = f"{name!r} is one of zermelo's own encoders: choose another name"
        raise BadSpec(msg)
    custom.register(custom.ENCODER, name, factory)


def build_encoder(spec: str, game: WordGame) -> "Encoder | CustomEncoder":
    """Return the encoder that a recipe names, built-in or custom."""
    if custom.is_custom(custom.ENCODER, spec):
        return CustomEncoder(spec, game)
    return Encoder(spec, game)


class CustomEncoder:
    """A custom encoder; the constructor checks what it returns."""

    def __init__(self, spec: str, game: WordGame) -> None:
        self.name, self.game = spec, game
        factory = custom.load_factory(custom.ENCODER, spec)
        with user_code.guard(spec):
            self._encode: Any = factory(game) if _takes_argument(factory) else factory()
            shape: Any = getattr(self._encode, "shape", None)
        if not callable(self._encode):
            msg = f"{spec} cannot be called: an encoder needs __call__(self, states)"
            raise BadSpec(msg)
        if not isinstance(shape, tuple) or not all(type(n) is int and n > 0 for n in shape):
            msg = f"{spec}: shape is {shape!r}: it must be a tuple of sizes"
            raise BadSpec(msg)
        self.shape: tuple[int, ...] = shape
        self.size = math.prod(shape)
        self._check()

    def __call__(self, states: np.ndarray) -> np.ndarray:
        """Return the encoded states as [state, *shape], in float32."""
        encoded: np.ndarray = self._encode(states)
        return encoded

    def _check(self) -> None:
        """Raise BadSpec if the numbers for a few states have the wrong shape or type."""
        states = sample_inputs(self.game)
        before = states.copy()
        with user_code.guard(self.name):
            encoded: Any = self(states)
        found = type(encoded).__name__
        if isinstance(encoded, np.ndarray):
            found = f"a {encoded.dtype} array {list(encoded.shape)}"
        expected = [_NUM_STATES, *self.shape]
        if found != f"a float32 array {expected}":
            msg = (
                f"{self.name} returns {found} for {_NUM_STATES} states: it must return "
                f"a float32 array {expected}, because its shape is {self.shape}"
            )
            raise BadSpec(msg)
        if not np.isfinite(encoded).all():
            msg = f"{self.name} returns NaN or infinity: all numbers must be finite"
            raise BadSpec(msg)
        if not np.array_equal(states, before):
            msg = f"{self.name} changes the states that it is given: it must not modify them"
            raise BadSpec(msg)


def sample_inputs(game: WordGame) -> np.ndarray:
    """Return the first states of a random game, for checks of encoders and networks."""
    return np.array(list(itertools.islice(sample_states(game), _NUM_STATES)), np.uint64)


def _takes_argument(factory: Factory) -> bool:
    try:
        return bool(inspect.signature(factory).parameters)
    except ValueError:  # Python cannot determine the signature
        return True
