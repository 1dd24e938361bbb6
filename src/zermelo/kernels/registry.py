"""The registry of kernels: which functions are kernels, and how each is compiled."""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from zermelo.core.game import Game, SolverHooks

Kernel = Callable[..., Any]
#: what a kernel is compiled for: a game, or its solver hooks, which also provide the rules
Rules = Game | SolverHooks


class KernelOptions(NamedTuple):
    """How a kernel is compiled."""

    signature: str  #: the numba types of all parameters except the first
    is_common: bool  #: whether `zermelo warm` compiles it ahead of time
    is_bare: bool  #: whether it is compiled without reference counting for arrays


_OPTIONS: dict[Kernel, KernelOptions] = {}


def kernel(
    signature: str, *, common: bool = True, bare: bool = False
) -> Callable[[Kernel], Kernel]:
    """Mark a function as a kernel; `signature` has the numba types of all parameters but the first.

    A kernel that is not `common` is only compiled when it is needed, never ahead of time. A `bare`
    kernel must neither create arrays nor copy whole rows of arrays; it runs faster.
    """

    def register(function: Kernel) -> Kernel:
        _OPTIONS[function] = KernelOptions(signature, common, bare)
        return function

    return register


def kernel_options(function: Kernel) -> KernelOptions:
    """Return the options that a kernel was marked with."""
    return _OPTIONS[function]


def list_common_kernels(rules: Rules) -> list[Kernel]:
    """Return the common kernels that apply to a game or its hooks, from all imported modules."""
    return [
        function
        for function, options in _OPTIONS.items()
        if options.is_common and isinstance(rules, _first_annotation(function))
    ]


def qualified_name(function: Kernel) -> str:
    """Return the module and the name of a function."""
    return f"{function.__module__}.{function.__qualname__}"


def _first_annotation(function: Kernel) -> Any:
    return next(iter(inspect.get_annotations(function).values()))
