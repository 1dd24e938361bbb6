"""A crew on a Ray cluster: the same function, on whatever machines the cluster has."""

import json
import os
import socket
from collections import deque
from functools import lru_cache
from typing import Any

from zermelo.core.errors import ZermeloError
from zermelo.learn.actors.protocol import Arrays, Order, Rollouts
from zermelo.learn.config.recipes import Recipe, from_json

_PATIENCE = 5.0  # seconds for somebody to answer
LOCAL = "local"  #: a cluster on this machine, which ends with the run


class Cluster:
    """Orders as tasks. Ray gives a task again whose worker or machine has died."""

    def __init__(self, recipe: Recipe, address: str, actors: int) -> None:
        ray = _ray()
        self._ray, self._local = ray, address == LOCAL
        if not self._local:
            _check_door(address)
        quiet = {"include_dashboard": False, "log_to_driver": False, "logging_level": "ERROR"}
        try:
            if self._local:
                ray.init(num_cpus=actors or None, **quiet)
            else:
                ray.init(address=address, log_to_driver=False, logging_level="ERROR")
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise ZermeloError(_no_cluster(address, str(error))) from None
        self.size = actors or int(ray.cluster_resources().get("CPU", 1))
        self.ahead = self.size + 1
        self._task = ray.remote(max_retries=-1, num_cpus=1)(play)
        self._recipe = json.dumps(recipe.to_json())
        self._under_way: deque[Any] = deque()
        self._put: tuple[int, Any] = (0, None)  # the last weights, as the cluster holds them

    def give(self, order: Order, weights: Arrays) -> None:
        """The weights are put into the cluster's memory once, however many orders they serve."""
        if self._put[0] != id(weights):
            self._put = id(weights), self._ray.put(weights)
        self._under_way.append(self._task.remote(self._recipe, self._put[1], order))

    def take(self) -> Arrays:
        """The oldest chunk, as soon as it is there."""
        try:
            found: Arrays = self._ray.get(self._under_way.popleft())
        except self._ray.exceptions.RayTaskError as error:
            raise ZermeloError(str(error.cause)) from None
        return found

    def drop(self) -> None:
        """Tasks that have not begun never do."""
        while self._under_way:
            self._ray.cancel(self._under_way.popleft(), force=False)

    def close(self) -> None:
        """Leave the cluster; a local one ends."""
        self._under_way.clear()
        self._ray.shutdown()


def play(recipe: str, weights: Arrays, order: Order) -> Arrays:
    """A task: what a worker of the cluster runs."""
    return _rollouts(recipe)(weights, order)


@lru_cache(maxsize=4)
def _rollouts(recipe: str) -> Rollouts:
    """A worker keeps what it has made ready."""
    import torch

    from zermelo.learn.runs.rollouts import rollouts_for

    torch.set_num_threads(1)
    return rollouts_for(from_json(json.loads(recipe)))


def _check_door(address: str) -> None:
    """Ray itself would wait for minutes where nobody listens."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 1 << 16:
        msg = f"--cluster is {address!r}: it can be local, or HOST:PORT of a Ray cluster"
        raise ZermeloError(msg)
    try:
        socket.create_connection((host, int(port)), timeout=_PATIENCE).close()
    except OSError as error:
        raise ZermeloError(_no_cluster(address, error.strerror or str(error))) from None


def _no_cluster(address: str, why: str) -> str:
    return f"no Ray cluster answers at {address}: {' '.join(why.split())[:200]}"


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is told to anybody
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ModuleNotFoundError:
        msg = "--cluster needs Ray: pip install 'zermelo[cluster]'"
        raise ZermeloError(msg) from None
    return ray
