"""Measure how long a newcomer waits: from a fresh clone to the page and to first replies.

    python scripts/first_minutes.py [--here]

The project is cloned and installed into an empty environment, and its studio is started with an
empty kernel cache and an empty store. With `--here`, the environment that runs this script is used
instead. Then three games are played to the computer's first reply: tic-tac-toe and Connect Four
against level 3, and Reversi against the random player. Meanwhile kernels compile, and the response
times of other requests are measured. All times are wall-clock times and exclude the installation.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import httpx

_ROOT = Path(__file__).parent.parent
_TIMEOUT = 180.0  # seconds for each request


def main() -> None:
    """Print the measurements, one per line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--here", action="store_true", help="Use the environment of this script.")
    parser.add_argument(
        "--seconds", type=float, default=30.0, help="Time for which responses are measured."
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        python = Path(sys.executable) if arguments.here else _install(Path(folder))
        for name, value in measure(python, Path(folder), arguments.seconds).items():
            print(f"{name:45} {value:8.2f}")


def _install(folder: Path) -> Path:
    """Clone and install the project as `make studio` does; return the new environment's Python."""
    clone = folder / "clone"
    subprocess.run(["git", "clone", "--quiet", _ROOT, clone], check=True)
    subprocess.run(["make", "--silent", "-C", clone, ".venv/studio"], check=True)
    return clone / ".venv" / "bin" / "python"


def measure(python: Path, folder: Path, seconds: float) -> dict[str, float]:
    """Start a studio with nothing compiled, and return the measurements by name."""
    environment = os.environ | {
        "ZERMELO_CACHE": str(folder / "cache"),
        "ZERMELO_HOME": str(folder / "home"),
    }
    command = [python, "-m", "zermelo", "studio", "--port", "0"]
    begin = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as studio:
        try:
            assert studio.stdout is not None
            url = studio.stdout.readline().split()[2]
            with httpx.Client(base_url=url, timeout=_TIMEOUT) as client:
                client.get("/").raise_for_status()
                page = time.perf_counter()
                figures = {"page after the installation, s": page - begin}
                responses = _Responses(url)
                responses.start()
                for game, move in (("tictactoe", "b2"), ("connect4", "4")):
                    _play(client, game, "level:3", move)
                    name = f"{game} at level 3, reply after the page, s"
                    figures[name] = time.perf_counter() - page
                begin_random = time.perf_counter()
                _play(client, "reversi", "random", "d3")
                name = "reversi against random while compiling, s"
                figures[name] = time.perf_counter() - begin_random
                time.sleep(max(0.0, seconds - (time.perf_counter() - page)))
                return figures | responses.stop()
        finally:
            studio.terminate()


class _Responses(threading.Thread):
    """Sends small requests continuously, and measures how long each takes."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self._url, self._times, self._done = url, list[float](), threading.Event()

    def run(self) -> None:
        with httpx.Client(timeout=_TIMEOUT) as client:
            while not self._done.wait(0.05):
                begin = time.perf_counter()
                client.get(f"{self._url}/api/v1/games").raise_for_status()
                self._times.append(time.perf_counter() - begin)

    def stop(self) -> dict[str, float]:
        """Return the median and the 95th percentile in milliseconds."""
        self._done.set()
        self.join()
        return {
            "response while compiling, median, ms": 1000 * statistics.median(self._times),
            "response while compiling, p95, ms": 1000 * statistics.quantiles(self._times, n=20)[-1],
        }


def _play(client: httpx.Client, game: str, opponent: str, move: str) -> None:
    """Create a match, play a move and wait for the reply."""
    match = _post(client, "", {"game": game, "first": "human", "second": opponent})
    _post(client, f"/{match['id']}/moves", {"move": move})
    replied = _post(client, f"/{match['id']}/reply", {})
    assert len(replied["moves"]) == 2, replied


def _post(client: httpx.Client, path: str, body: dict[str, Any]) -> Any:
    return client.post(f"/api/v1/matches{path}", json=body).raise_for_status().json()


if __name__ == "__main__":
    main()
