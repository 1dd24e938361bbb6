"""Determine the compiled type of each constant of a rules class from its annotation."""

import base64
import functools
import inspect
import itertools
import typing
import zlib
from typing import Any

from zermelo.core import bitboard
from zermelo.core.errors import KernelError


def find_annotation(classes: list[type], name: str) -> Any:
    """Return a constant's annotation in the first of these classes and their bases that has one.

    For a cached property, return the annotation of its return value. Raise KernelError if no class
    annotates the constant.
    """
    for cls in itertools.chain.from_iterable(owner.__mro__ for owner in classes):
        annotations = inspect.get_annotations(cls)
        if name in annotations:
            annotation = annotations[name]
            if isinstance(annotation, str):  # from __future__ import annotations
                try:
                    annotation = eval(annotation, vars(inspect.getmodule(cls)))  # noqa: S307 - trusted
                except NameError:
                    break
            return annotation
        if isinstance(attribute := vars(cls).get(name), functools.cached_property):
            return inspect.get_annotations(attribute.func).get("return")
    msg = f"{classes[-1].__name__}.{name} is read by a rule: annotate it as Word, int or bool"
    raise KernelError(msg)


def to_typed(value: Any, annotation: Any, where: str) -> Any:
    """Convert a constant to the numpy type of its annotation; raise KernelError if that fails.

    `where` names the constant in errors.
    """
    import numpy as np

    if typing.get_origin(annotation) is typing.ClassVar:
        (annotation,) = typing.get_args(annotation)
    if typing.get_origin(annotation) is tuple and isinstance(value, tuple):
        items = typing.get_args(annotation)
        inner = [items[0]] * len(value) if items[-1] is Ellipsis else list(items)
        return tuple(to_typed(v, a, where) for v, a in zip(value, inner, strict=True))
    if annotation is bitboard.Numbers:
        return np.ascontiguousarray(value)
    kinds = {bitboard.Word: np.uint64, int: np.int64, bool: np.bool_}
    if annotation not in kinds:
        name = annotation.__name__ if isinstance(annotation, type) else annotation
        msg = f"{where} is annotated {name}: it must be Word, int, bool or a tuple of these"
        raise KernelError(msg)
    try:
        return kinds[annotation](value)
    except (OverflowError, TypeError, ValueError):
        kind = "a word of 64 bits" if annotation is bitboard.Word else annotation.__name__
        msg = f"{where} is {value!r}: that is not {kind}"
        raise KernelError(msg) from None


def to_literal(value: Any) -> str:
    """Return Python source that evaluates to this constant, including its numpy type."""
    if isinstance(value, tuple):
        return f"({''.join(to_literal(v) + ', ' for v in value)})"
    if getattr(value, "shape", ()):
        return _to_array_literal(value)
    return f"np.{type(value).__name__.replace('bool', 'bool_').rstrip('_')}({value})"


def _to_array_literal(value: Any) -> str:
    """Return Python source that evaluates to an array; the data in it is compressed."""
    packed = base64.b85encode(zlib.compress(value.tobytes(), 9)).decode()
    raw = f"zlib.decompress(base64.b85decode({packed!r}))"
    return f"np.frombuffer({raw}, np.{value.dtype}).reshape({value.shape})"
