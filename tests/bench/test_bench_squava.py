"""The benchmark of the Squava hybrid: a small run of each part, and the players it needs."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import zermelo as z
from zermelo.bench import measure
from zermelo.bench.squava import hybrid
from zermelo.bench.squava import players as bench_players
from zermelo.cli.bench import bench
from zermelo.search.engines import WordEngine
from zermelo.search.limits import SearchClock

pytest.importorskip("torch", reason="torch is not installed")
from support.learners import GAME, OURS, PUBLISHED, shrink
from zermelo.bench import actors
from zermelo.bench.squava import phases
from zermelo.learn.config import recipes
from zermelo.learn.config.recipe import Recipe

POSITIONS = bench_players.labelled_positions(12)


def ignore(_: str) -> None:
    pass


@pytest.fixture(autouse=True)
def all_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the benchmark from confining this process, and the tests after it, to one core."""
    monkeypatch.setattr(measure, "pin_to_one_core", lambda: None)


@pytest.fixture(autouse=True)
def few_positions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a dozen positions instead of all."""
    monkeypatch.setattr(bench_players, "labelled_positions", lambda number=None: POSITIONS[:number])


def test_search() -> None:
    report = hybrid.run(("search",), ignore, number=3, repeat=2)
    assert report["suite"] == "hybrid"
    rows = {row["task"]: row for row in report["rows"]}
    assert len(rows) == len(report["rows"]) == 16
    for depth in (4, 5):
        for network in ("ours", "published, fresh"):
            prefix = f"depth {depth}, {network}"
            for ordering in ("ordering", "no ordering"):
                cached = rows[f"{prefix}, {ordering}, cache"]
                uncached = rows[f"{prefix}, {ordering}, no cache"]
                assert cached["nodes"] == uncached["nodes"]
                assert 0 <= cached["hits"] < 100
                assert uncached["hits"] == 0
            notes = [note for note in report["notes"] if note.startswith(f"{prefix}: ")]
            assert [note.count("published:") for note in notes] == [1, 1]
        ordered, unordered = (
            rows[f"depth {depth}, ours, {ordering}, cache"]["nodes"]
            for ordering in ("ordering", "no ordering")
        )
        assert ordered < unordered
    assert any(row["hits"] > 5 for row in report["rows"])


def test_the_cache_changes_no_score() -> None:
    game, net = hybrid._networks("")["ours"]
    states = [labelled.position.state for labelled in POSITIONS]
    first = hybrid.search_all(game, net, states, 4, ordering=True, repeat=1)
    second = hybrid.search_all(game, net, states, 4, ordering=True, repeat=1)
    no_cache = replace(net, estimates=net.estimates[:0])
    uncached = hybrid.search_all(game, no_cache, states, 4, ordering=True, repeat=1)
    assert (first.scores, first.nodes) == (uncached.scores, uncached.nodes)
    assert 0 < first.hit_rate == second.hit_rate, "every pass starts with an empty cache"
    assert len(set(first.scores)) > 5, "not all the same"


def test_a_run_replaces_the_fresh_weights() -> None:
    (ours, net), (theirs, same) = hybrid._networks("squava-hybrid").values()
    assert ours == theirs
    assert (net.weights == same.weights).all()


def test_ordering_saves_nodes_and_changes_no_score() -> None:
    state = GAME.position(moves="a1 c3 e5 b2").state
    results = []
    for ordering in (True, False):
        engine, clock = WordEngine(GAME.hooks, ordering=ordering), SearchClock()
        engine.start_iteration(4)
        results.append(
            (engine.search(state, 4, -engine.win_score, engine.win_score, clock), clock.nodes)
        )
    (score, nodes), (unordered_score, unordered_nodes) = results
    assert score == unordered_score
    assert nodes < unordered_nodes


@pytest.fixture
def small_recipes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shrink the recipe of the hybrid, but not its network, so that nothing is recompiled."""
    load = recipes.load

    def load_small(name: str) -> Recipe:
        return shrink(OURS) if name == "squava-hybrid" else load(name)

    monkeypatch.setattr(recipes, "load", load_small)


@pytest.mark.usefixtures("small_recipes")
def test_play_by_actors() -> None:
    row = actors.measure_play("squava-hybrid", 0.05, ignore)
    assert (row["game"], row["unit"]) == ("squava", "transitions/s")
    assert row["chunks"] >= 8
    assert row["chunks"] % 2 == 0
    assert row["times"] == pytest.approx(row["rate"] / row["one"], rel=0.01)


@pytest.mark.usefixtures("small_recipes")
def test_learning_with_actors() -> None:
    row = actors.measure_learning("squava-hybrid", 30, ignore)
    assert row["updates"] == 30
    assert row["rate"] == pytest.approx(30 / row["seconds"], rel=0.01)
    assert row["times"] == pytest.approx(row["rate"] / row["one"], rel=0.01)


@pytest.mark.usefixtures("small_recipes")
@pytest.mark.parametrize("name", actors.REPLAY_RECIPES)
def test_share_of_the_replay(name: str) -> None:
    row = actors.measure_replay(name, 30, ignore)
    assert 0 < row["with_games"] < row["rate"] < 100
    assert row["updates"] == 30


def test_measured_updates_are_whole_chunks() -> None:
    recipe, warm, updates = actors._shorten("squava-hybrid", 25)
    burst = recipe.acting.games // recipe.searching.games
    assert (warm % burst, updates % burst) == (0, 0)
    assert 25 <= updates < 25 + burst
    assert recipe.learning.updates == warm + updates
    assert actors._shorten("tictactoe-dqn", 25)[1:] == (3, 25)


def test_notes_of_actors(monkeypatch: pytest.MonkeyPatch) -> None:
    """The notes say which of two requirements hold and which are missed."""

    def played(name: str, *_: Any) -> dict[str, Any]:
        return {"times": 1.9 if name == "tictactoe-dqn" else 1.5}

    monkeypatch.setattr(actors, "measure_play", played)
    monkeypatch.setattr(actors, "measure_learning", lambda *_: {})
    monkeypatch.setattr(actors, "measure_replay", lambda *_: {"rate": 20.1, "with_games": 4.0})
    notes: list[str] = []
    assert len(actors.measure_actors(1.0, notes, ignore)) == 8
    hybrid_note, dqn_note, *_ = notes
    assert "1.50 times as fast as one" in hybrid_note
    assert "target 1.6 or more: MISSED" in hybrid_note
    assert "target 1.6 or more: holds" in dqn_note
    assert "20.1% of a training step without self-play, 4.0% with self-play" in notes[-1]
    assert notes[-1].endswith("(target 20% or less: MISSED)")


def test_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hybrid, "_OPPONENTS", {"minimax:depth=1": None, "random": 85})
    report = hybrid.run(("matches",), ignore, games=4)
    weak, random, timed, ours, theirs = report["rows"]
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
        spec = row["task"].removeprefix("mistakes of ")
        grade = z.grade("squava", spec, positions=[one.position for one in POSITIONS])
        assert grade.total.mistakes == round(row["rate"] * len(POSITIONS) / 100)
        assert row["positions"] == len(POSITIONS)
    assert report["notes"] == [
        f"depth 4 against random: {random['wins']:.1f} wins of 100 (published: 85)"
    ]


def test_centre() -> None:
    report = hybrid.run(("centre",), ignore, games=2)
    on, off, match = report["rows"]
    assert on["task"] == "mistakes of minimax:depth=4,heuristic=published"
    assert off["task"] == "mistakes of minimax:depth=4,heuristic=published-no-centre"
    assert match["games"] == 2
    assert "published centre term" in report["notes"][0]


def test_the_published_heuristic_without_its_centre() -> None:
    start = GAME.start()
    with_it, without = (
        z.player(f"minimax:depth=1,heuristic={name}").choose(start)
        for name in ("published", "published-no-centre")
    )
    assert with_it.estimate != without.estimate
    with pytest.raises(z.BadSpec, match="heuristic=published-no-centre works only for squava"):
        z.player("minimax:heuristic=published-no-centre").choose(z.game("tictactoe").start())


def test_ends_of_phases() -> None:
    ends = {"initialisation": 0, "explore": 450, "heuristic": 2250, "self-play": 3000}
    assert phases.phase_ends(PUBLISHED) == ends
    assert list(ends) == list(phases.PUBLISHED_WINS)


def test_published_wins() -> None:
    """As published: against random 50 to 60, 60 to 85; against the heuristic 10 to 50, 50 to 65."""
    random, heuristic = zip(*phases.PUBLISHED_WINS.values(), strict=True)
    assert random[:3] == (50, 60, 85)
    assert heuristic[1:] == (10, 50, 65)


@pytest.mark.proof  # compiles for half a minute, for a network that only this benchmark trains
def test_phases(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every phase saves weights that play with the published blend."""
    matches = []

    def play_match(task: str, players: tuple[str, str], games: int, *_: Any, **more: float) -> Any:
        matches.append((task, players[1], games, more.get("published")))
        ours = z.player(players[0])
        assert ours.prepare(GAME).net.blend == (600, 400)
        assert ours.choose(GAME.start()).depth == 4
        unit = "points of 100"
        return measure.create_row("squava", task, "zermelo", 50.0, unit, wins=40.0, **more)

    monkeypatch.setattr(bench_players, "play_match", play_match)
    monkeypatch.setattr(phases, "_ACTORS", 1)  # two processes would compile the same kernels
    notes: list[str] = []
    out = tmp_path / "run"
    rows = phases.measure_phases(6, out, notes, ignore, shrink(PUBLISHED))
    assert [(task.split(",")[0], games, wins) for task, _, games, wins in matches] == [
        (f"after {phase}", 6, wins)
        for phase, published in phases.PUBLISHED_WINS.items()
        for wins in published
    ]
    assert {opponent for _, opponent, _, _ in matches} == {
        "random",
        "minimax:depth=3,heuristic=published",
    }
    minutes = [row["minutes"] for row in rows]
    assert minutes == sorted(minutes)
    files = [(out / f"after-{phase}.safetensors").read_bytes() for phase in phases.PUBLISHED_WINS]
    assert len(set(files)) == 4, "it learned in between"
    assert notes[0].endswith("(published: 15 to 25)")
    assert notes[1] == "after initialisation, against random: 40.0 wins of 100 (published: 50)"


def test_a_hybrid_with_a_time_limit() -> None:
    position = GAME.position(moves="a1 c3")
    timed = z.player("hybrid:squava-hybrid,seconds=2")
    assert timed.name == "hybrid:squava-hybrid,seconds=2"
    analysis = timed.choose(position)
    assert analysis.depth is not None
    assert analysis.depth > 5, "deeper than its default"
    assert analysis.seconds == pytest.approx(2, abs=0.5)
    assert z.player("hybrid:squava-hybrid,seconds=5,depth=2").choose(position).depth == 2
    assert z.player("hybrid:squava-hybrid").choose(position).depth == 5
    with pytest.raises(z.BadSpec, match="above 0"):
        z.player("hybrid:seconds=0")


def test_command(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []

    def run(parts: tuple[str, ...], progress: Any, **more: Any) -> dict[str, Any]:
        calls.append((parts, more))
        row = measure.create_row("squava", "depth 4", "zermelo", 2.0, "positions/s", hits=12.5)
        return measure.create_report("hybrid", [row], ["beside what was published"])

    monkeypatch.setattr(hybrid, "run", run)
    done = CliRunner().invoke(bench, ["hybrid"])
    assert done.exit_code == 0
    assert "hits" in done.stdout
    assert "beside what was published" in done.stdout
    arguments = ["hybrid", "--part", "phases", "--part", "search", "--games", "8", "--json"]
    done = CliRunner().invoke(bench, arguments)
    assert json.loads(done.stdout)["suite"] == "hybrid"
    (default_parts, defaults), (parts, options) = calls
    assert default_parts == ("search", "actors", "matches", "centre")
    assert parts == ("phases", "search")
    assert (defaults["games"], defaults["number"], defaults["out"]) == (400, 200, None)
    assert options["games"] == 8
    assert CliRunner().invoke(bench, ["hybrid", "--part", "nothing"]).exit_code == 2
