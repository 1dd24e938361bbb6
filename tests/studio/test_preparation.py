"""The page comes first: kernels are compiled by other processes while requests are answered."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.studio import Studio
from zermelo.kernels import compiler
from zermelo.kernels.compiler_pool import CompilerPool
from zermelo.studio import preparation


@pytest.fixture
def fresh(
    studio: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[preparation.Preparation]:
    """The preparation of a studio that has just been started with an empty kernel cache."""
    monkeypatch.setenv("ZERMELO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(preparation.precompile, "submit_all_kernels", lambda _pool: None)
    # Not in the background, where other tests would leave no time for it.
    monkeypatch.setattr(preparation, "CompilerPool", lambda **_options: CompilerPool())
    compiler._compile_once.cache_clear()
    yield studio.app.state.players.preparation
    studio.app.state.players.preparation.close()
    compiler._compile_once.cache_clear()


def test_a_client_sees_what_it_waits_for(studio: Studio, fresh: preparation.Preparation) -> None:
    assert studio.get("preparation").json() == {"games": [], "share": 1.0, "seconds_left": 0.0}
    fresh.start()
    match = studio.post("matches", game="connect4", first="mcts:sims=20", second="human").json()
    replies = []
    reply = f"matches/{match['id']}/reply"
    thread = threading.Thread(target=lambda: replies.append(studio.post(reply)))
    thread.start()
    states = []
    while thread.is_alive():
        begin = time.perf_counter()
        states.append(studio.get("preparation").json())
        assert time.perf_counter() - begin < 1
        time.sleep(0.05)
    shares = [state["share"] for state in states if state["games"] == ["connect4"]]
    assert len(set(shares)) > 3, "the bar moves"
    assert len(replies[0].json()["moves"]) == 1
    assert studio.get("preparation").json()["games"] == []


@pytest.mark.parametrize(
    ("game", "opponent"), [("tictactoe", "level:3"), ("reversi", "random"), ("connect4", "greedy")]
)
def test_some_matches_need_no_kernel(
    studio: Studio, fresh: preparation.Preparation, game: str, opponent: str
) -> None:
    fresh.start()
    begin = time.perf_counter()
    created = studio.post("matches", game=game, first=opponent, second="human").json()
    replied = studio.post(f"matches/{created['id']}/reply").json()
    assert len(replied["moves"]) == 1
    assert time.perf_counter() - begin < 3


def test_without_a_start_kernels_are_compiled_here(studio: Studio) -> None:
    assert compiler._pool is None
    assert studio.app.state.players.preparation.state() is None


def test_the_terminal_shows_all_compilations(fresh: preparation.Preparation) -> None:
    fresh.start()
    assert fresh.state() is None
    assert isinstance(compiler._pool, CompilerPool)
    from zermelo.games import registry

    fresh.prefer(registry.game("squava"))
    state = fresh.state()
    assert state is not None
    text, share = state
    assert text.endswith("for squava")
    assert 0 <= share < 1
    assert fresh.urgent() == []
