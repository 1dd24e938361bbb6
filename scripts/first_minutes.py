"""Measure how long a newcomer waits: from a fresh environment to the page and to first replies.

    python scripts/first_minutes.py [--json]

The studio of the environment that runs this script is started with an empty kernel cache and an
empty store. Then two games are played to the first reply of the computer: tic-tac-toe and Connect
Four, both against level 3. While kernels compile, the response times of other requests and a game
against the random player are measured. All times are wall-clock seconds.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

_TIMEOUT = 180.0  # seconds for the server to start, and for each request


def main() -> None:
    """Print the measurements, one per line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="Print JSON.")
    parser.add_argument("--seconds", type=float, default=20.0, help="Time to measure responses.")
    arguments = parser.parse_args()
    figures = measure(arguments.seconds)
    if arguments.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:45} {value:8.2f}")


def measure(seconds: float) -> dict[str, float]:
    """Start a studio with nothing compiled, and return the measurements by name."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {
            "ZERMELO_CACHE": str(Path(folder, "cache")),
            "ZERMELO_HOME": str(Path(folder, "home")),
        }
        command = [sys.executable, "-m", "zermelo", "studio", "--port", "0"]
        begin = time.perf_counter()
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env=environment
        ) as studio:
            try:
                assert studio.stdout is not None
                url = studio.stdout.readline().split()[2]
                _request(url)
                page = time.perf_counter()
                figures = {"page after the start, s": page - begin}
                responses = _Responses(url)
                responses.start()
                for game, move in (("tictactoe", "b2"), ("connect4", "4")):
                    _play(url, game, "level:3", move)
                    name = f"{game} at level 3, reply after the page, s"
                    figures[name] = time.perf_counter() - page
                begin_random = time.perf_counter()
                _play(url, "reversi", "random", "d3")
                figures["reversi against random, reply, s"] = time.perf_counter() - begin_random
                time.sleep(max(0.0, seconds - (time.perf_counter() - page)))
                return figures | responses.stop()
            finally:
                studio.terminate()


class _Responses(threading.Thread):
    """Sends small requests all the time, and measures how long each takes."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self._url, self._times, self._done = url, list[float](), threading.Event()

    def run(self) -> None:
        while not self._done.wait(0.05):
            begin = time.perf_counter()
            _request(self._url + "/api/v1/games")
            self._times.append(time.perf_counter() - begin)

    def stop(self) -> dict[str, float]:
        """Return the median and the 95th percentile in milliseconds."""
        self._done.set()
        self.join()
        return {
            "response while compiling, median, ms": 1000 * statistics.median(self._times),
            "response while compiling, p95, ms": 1000 * statistics.quantiles(self._times, n=20)[-1],
        }


def _play(url: str, game: str, opponent: str, move: str) -> None:
    """Create a match, play a move and wait for the reply."""
    matches = f"{url}/api/v1/matches"
    match = _request(matches, {"game": game, "first": "human", "second": opponent})
    _request(f"{matches}/{match['id']}/moves", {"move": move})
    replied = _request(f"{matches}/{match['id']}/reply", {})
    assert len(replied["moves"]) == 2, replied


def _request(url: str, body: dict[str, Any] | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    begin = time.perf_counter()
    while True:
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT) as response:
                text = response.read()
            return json.loads(text) if "json" in response.headers["content-type"] else None
        except urllib.error.HTTPError:
            raise
        except OSError:
            if time.perf_counter() - begin > _TIMEOUT:
                raise
            time.sleep(0.05)


if __name__ == "__main__":
    main()
