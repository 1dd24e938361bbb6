"""The benchmark of the hybrid: each part in small, and the players that it needs."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import zermelo as z
from zermelo.bench import measure
from zermelo.bench.squava import hybrid
from zermelo.bench.squava import players as squava
from zermelo.cli.bench import bench
from zermelo.search.engines import WordEngine
from zermelo.search.limits import SearchClock

pytest.importorskip("torch", reason="torch is not installed")
from support.learners import GAME, OURS, PUBLISHED, tiny
from zermelo.bench import actors
from zermelo.bench.squava import phases
from zermelo.learn.config import recipes
from zermelo.learn.config.recipe import Recipe

SOME = squava.graded(12)


def quietly(_: str) -> None:
    pass


@pytest.fixture(autouse=True)
def all_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests that follow in this process keep theirs."""
    monkeypatch.setattr(measure, "use_one_core", lambda: None)


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dozen positions."""
    monkeypatch.setattr(squava, "graded", lambda number=None: SOME[:number])


def test_search() -> None:
    found = hybrid.run(("search",), quietly, number=3, repeat=2)
    assert found["suite"] == "hybrid"
    rows = {row["task"]: row for row in found["rows"]}
    assert len(rows) == len(found["rows"]) == 16
    for depth in (4, 5):
        for network in ("ours", "published, fresh"):
            begin = f"depth {depth}, {network}"
            for ordering in ("ordering", "no ordering"):
                kept = rows[f"{begin}, {ordering}, cache"]
                plain = rows[f"{begin}, {ordering}, no cache"]
                assert kept["nodes"] == plain["nodes"]
                assert 0 <= kept["hits"] < 100
                assert plain["hits"] == 0
            notes = [note for note in found["notes"] if note.startswith(f"{begin}: ")]
            assert [note.count("published:") for note in notes] == [1, 1]
        sorted_, as_they_come = (
            rows[f"depth {depth}, ours, {ordering}, cache"]["nodes"]
            for ordering in ("ordering", "no ordering")
        )
        assert sorted_ < as_they_come
    assert any(row["hits"] > 5 for row in found["rows"])


def test_a_cache_changes_no_score() -> None:
    game, net = hybrid._networks("")["ours"]
    states = [one.position.state for one in SOME]
    kept = hybrid.searches(game, net, states, 4, ordering=True, repeat=1)
    again = hybrid.searches(game, net, states, 4, ordering=True, repeat=1)
    none = replace(net, cache=net.cache[:0])
    plain = hybrid.searches(game, none, states, 4, ordering=True, repeat=1)
    assert (kept.scores, kept.nodes) == (plain.scores, plain.nodes)
    assert 0 < kept.hit_rate == again.hit_rate, "each time it is empty"
    assert len(set(kept.scores)) > 5, "not all the same"


def test_a_run_in_place_of_fresh_weights() -> None:
    (ours, net), (theirs, same) = hybrid._networks("squava-hybrid").values()
    assert ours == theirs
    assert (net.weights == same.weights).all()


def test_moves_as_they_come() -> None:
    """Without ordering the score is the same, and takes longer to find."""
    state = GAME.position(moves="a1 c3 e5 b2").state
    found = []
    for ordering in (True, False):
        engine, clock = WordEngine(GAME, ordering=ordering), SearchClock()
        engine.start_iteration(4)
        found.append((engine.search(state, 4, -engine.far, engine.far, clock), clock.nodes))
    (score, nodes), (other, more) = found
    assert score == other
    assert nodes < more


@pytest.fixture
def small_recipes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The network of the hybrid is its own: nothing is compiled anew."""
    load = recipes.load

    def loaded(name: str) -> Recipe:
        return tiny(OURS) if name == "squava-hybrid" else load(name)

    monkeypatch.setattr(recipes, "load", loaded)


@pytest.mark.usefixtures("small_recipes")
def test_play_by_actors() -> None:
    row = actors.played("squava-hybrid", 0.05, quietly)
    assert (row["game"], row["unit"]) == ("squava", "transitions/s")
    assert row["chunks"] >= 8
    assert row["chunks"] % 2 == 0
    assert row["times"] == pytest.approx(row["rate"] / row["one"], rel=0.01)


@pytest.mark.usefixtures("small_recipes")
def test_learning_with_actors() -> None:
    row = actors.learned("squava-hybrid", 30, quietly)
    assert row["updates"] == 30
    assert row["rate"] == pytest.approx(30 / row["seconds"], rel=0.01)
    assert row["times"] == pytest.approx(row["rate"] / row["one"], rel=0.01)


@pytest.mark.usefixtures("small_recipes")
@pytest.mark.parametrize("name", actors.STORED)
def test_share_of_the_replay(name: str) -> None:
    row = actors.stored(name, 30, quietly)
    assert 0 < row["with_games"] < row["rate"] < 100
    assert row["updates"] == 30


def test_whole_chunks_count() -> None:
    recipe, warm, updates = actors._short("squava-hybrid", 25)
    burst = recipe.acting.games // recipe.searching.games
    assert (warm % burst, updates % burst) == (0, 0)
    assert 25 <= updates < 25 + burst
    assert recipe.learning.updates == warm + updates
    assert actors._short("tictactoe-dqn", 25)[1:] == (3, 25)


def test_notes_of_actors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two musts, held or missed."""

    def played(name: str, *_: Any) -> dict[str, Any]:
        return {"times": 1.9 if name == "tictactoe-dqn" else 1.5}

    monkeypatch.setattr(actors, "played", played)
    monkeypatch.setattr(actors, "learned", lambda *_: {})
    monkeypatch.setattr(actors, "stored", lambda *_: {"rate": 20.1, "with_games": 4.0})
    notes: list[str] = []
    assert len(actors.rows(1.0, notes, quietly)) == 8
    hybrid_note, dqn_note, *_ = notes
    assert "1.50 times as much as one" in hybrid_note
    assert "at least 1.6: MISSED" in hybrid_note
    assert "at least 1.6: holds" in dqn_note
    assert "20.1% of a training step without the games, 4.0% with them" in notes[-1]
    assert notes[-1].endswith("(at most 20%: MISSED)")


def test_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hybrid, "_OPPONENTS", {"minimax:depth=1": None, "random": 85})
    found = hybrid.run(("matches",), quietly, games=4)
    weak, random, timed, ours, theirs = found["rows"]
    assert random["published"] == 85
    assert "published" not in weak
    assert random["rate"] > 50
    assert timed["task"] == "10 ms a move each, against alphabeta"
    for row in (weak, random, timed):
        assert row["unit"] == "points of 100"
        assert row["rate"] == row["wins"] + row["draws"] / 2
    assert ours["task"] == "mistakes of hybrid:squava-hybrid,depth=4"
    assert theirs["task"] == "mistakes of minimax:depth=1"
    for row in (ours, theirs):
        graded = z.grade("squava", row["task"].removeprefix("mistakes of "), positions=_given())
        assert graded.total.mistakes == round(row["rate"] * len(SOME) / 100)
        assert row["positions"] == len(SOME)
    assert found["notes"] == [
        f"depth 4 against random: {random['wins']:.1f} wins of 100 (published: 85)"
    ]


def _given() -> list[Any]:
    return [one.position for one in SOME]


def test_centre() -> None:
    found = hybrid.run(("centre",), quietly, games=2)
    on, off, match = found["rows"]
    assert on["task"] == "mistakes of minimax:depth=4,heuristic=published"
    assert off["task"] == "mistakes of minimax:depth=4,heuristic=published-no-centre"
    assert match["games"] == 2
    assert "term for the centre" in found["notes"][0]


def test_a_heuristic_without_its_centre() -> None:
    start = GAME.start()
    with_it, without = (
        z.player(f"minimax:depth=1,heuristic={name}").choose(start)
        for name in ("published", "published-no-centre")
    )
    assert with_it.estimate != without.estimate
    with pytest.raises(z.BadSpec, match="heuristic=published-no-centre is for squava"):
        z.player("minimax:heuristic=published-no-centre").choose(z.game("tictactoe").start())


def test_ends_of_phases() -> None:
    assert phases.ends(PUBLISHED) == {"explore": 450, "heuristic": 2250, "self-play": 3000}
    assert list(phases.ends(PUBLISHED)) == list(phases.CLAIMS)


@pytest.mark.proof  # half a minute of compiling for a network that only this benchmark trains
def test_phases(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each phase leaves weights that play, with its own blend."""
    asked = []

    def match(task: str, players: tuple[str, str], games: int, *_: Any, **more: float) -> Any:
        asked.append((task, players[1], games, more["published"]))
        ours = z.player(players[0])
        assert ours.fit(GAME).net.shares == (600, 400)
        assert ours.choose(GAME.start()).depth == 4
        return measure.row("squava", task, "zermelo", 50.0, "points of 100", wins=40.0, **more)

    monkeypatch.setattr(squava, "match", match)
    monkeypatch.setattr(phases, "_ACTORS", 1)  # two would compile the same
    notes: list[str] = []
    out = tmp_path / "run"
    rows = phases.rows(6, out, notes, quietly, tiny(PUBLISHED))
    assert [(task.split(",")[0], games, claim) for task, _, games, claim in asked] == [
        (f"after {phase}", 6, claim) for phase, claims in phases.CLAIMS.items() for claim in claims
    ]
    assert {opponent for _, opponent, _, _ in asked} == {
        "random",
        "minimax:depth=3,heuristic=published",
    }
    minutes = [row["minutes"] for row in rows]
    assert minutes == sorted(minutes)
    kept = [(out / f"after-{phase}.safetensors").read_bytes() for phase in phases.CLAIMS]
    assert len(set(kept)) == 3, "it learned in between"
    assert notes[0].endswith("(published: 15 to 25)")
    assert notes[1] == "after explore, against random: 40.0 wins of 100 (published: 50)"


def test_a_hybrid_with_time() -> None:
    position = GAME.position(moves="a1 c3")
    timed = z.player("hybrid:squava-hybrid,seconds=0.5")
    assert timed.name == "hybrid:squava-hybrid,seconds=0.5"
    found = timed.choose(position)
    assert found.depth is not None
    assert found.depth > 5, "deeper than it was made for"
    assert found.seconds == pytest.approx(0.5, abs=0.4)
    assert z.player("hybrid:squava-hybrid,seconds=5,depth=2").choose(position).depth == 2
    assert z.player("hybrid:squava-hybrid").choose(position).depth == 5
    with pytest.raises(z.BadSpec, match="above 0"):
        z.player("hybrid:seconds=0")


def test_command(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def run(parts: tuple[str, ...], progress: Any, **more: Any) -> dict[str, Any]:
        asked.append((parts, more))
        row = measure.row("squava", "depth 4", "zermelo", 2.0, "positions/s", hits=12.5)
        return measure.report("hybrid", [row], ["beside what was published"])

    monkeypatch.setattr(hybrid, "run", run)
    done = CliRunner().invoke(bench, ["hybrid"])
    assert done.exit_code == 0
    assert "hits" in done.stdout
    assert "beside what was published" in done.stdout
    some = ["hybrid", "--part", "phases", "--part", "search", "--games", "8", "--json"]
    done = CliRunner().invoke(bench, some)
    assert json.loads(done.stdout)["suite"] == "hybrid"
    (parts, more), (others, given) = asked
    assert parts == ("search", "actors", "matches", "centre")
    assert others == ("phases", "search")
    assert (more["games"], given["games"], more["number"], more["out"]) == (400, 8, 200, None)
    assert CliRunner().invoke(bench, ["hybrid", "--part", "nothing"]).exit_code == 2
