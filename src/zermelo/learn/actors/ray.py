"""Actors on a Ray cluster, which may span several machines."""

import json
import os
import socket
from collections import deque
from functools import lru_cache
from typing import Any

from zermelo.core.errors import ZermeloError
from zermelo.learn.actors.protocol import (
    RolloutFactory,
    RolloutFunction,
    RolloutRequest,
    factory_path,
    import_factory,
)
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.config.recipes import from_dict
from zermelo.learn.networks.weights_file import Arrays

_CONNECT_SECONDS = 5.0
LOCAL = "local"  #: address of a cluster on this machine that starts and stops with the pool


class RayActorPool:
    """A pool that plays rollouts as Ray tasks. Ray repeats a task if its worker or machine dies."""

    def __init__(self, factory: RolloutFactory, recipe: Recipe, address: str, actors: int) -> None:
        self._ray = ray = _import_ray()
        if address != LOCAL:
            _check_reachable(address)
        try:
            if address == LOCAL:
                ray.init(
                    num_cpus=actors or None,
                    include_dashboard=False,
                    log_to_driver=False,
                    logging_level="ERROR",
                )
            else:
                ray.init(address=address, log_to_driver=False, logging_level="ERROR")
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise ZermeloError(_unreachable(address, str(error))) from None
        self.size = actors or int(ray.cluster_resources().get("CPU", 1))
        self.max_pending = self.size + 1
        self._task = ray.remote(max_retries=-1, num_cpus=1)(play_rollout)
        self._arguments = factory_path(factory), json.dumps(recipe.to_dict())
        self._pending: deque[Any] = deque()
        self._weights: Arrays = {}  # weights of the latest request
        self._weights_ref: Any = None  # reference to these weights in the cluster's memory

    def submit(self, request: RolloutRequest, weights: Arrays) -> None:
        """Start a task; send the weights to the cluster only if they differ from the last ones."""
        if self._weights is not weights:
            self._weights, self._weights_ref = weights, self._ray.put(weights)
        self._pending.append(self._task.remote(*self._arguments, self._weights_ref, request))

    def collect(self) -> Arrays:
        """Return the rollout of the oldest task, waiting for it if necessary."""
        try:
            rollout: Arrays = self._ray.get(self._pending.popleft())
        except self._ray.exceptions.RayTaskError as error:
            raise ZermeloError(str(error.cause)) from None
        return rollout

    def cancel(self) -> None:
        """Discard the pending tasks; tasks that have not started will not run."""
        while self._pending:
            self._ray.cancel(self._pending.popleft(), force=False)

    def close(self) -> None:
        """Disconnect from the cluster, and stop it if it is local."""
        self._pending.clear()
        self._ray.shutdown()


def play_rollout(factory: str, recipe: str, weights: Arrays, request: RolloutRequest) -> Arrays:
    """Play one rollout in a worker of the cluster."""
    return _rollout_function(factory, recipe)(weights, request)


@lru_cache(maxsize=4)
def _rollout_function(factory: str, recipe: str) -> RolloutFunction:
    """Return the function that plays rollouts; every worker builds it only once."""
    import torch

    torch.set_num_threads(1)
    return import_factory(factory)(from_dict(json.loads(recipe)))


def _check_reachable(address: str) -> None:
    """Raise ZermeloError if no server listens at the address; Ray would retry for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 1 << 16:
        msg = f"cluster is {address!r}: it must be local, or HOST:PORT of a Ray cluster"
        raise ZermeloError(msg)
    try:
        socket.create_connection((host, int(port)), timeout=_CONNECT_SECONDS).close()
    except OSError as error:
        raise ZermeloError(_unreachable(address, error.strerror or str(error))) from None


def _unreachable(address: str, reason: str) -> str:
    return f"no Ray cluster answers at {address}: {' '.join(reason.split())[:200]}"


def _import_ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ModuleNotFoundError:
        msg = "cluster needs Ray: pip install 'zermelo[cluster]'"
        raise ZermeloError(msg) from None
    return ray
