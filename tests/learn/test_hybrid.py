"""A learned value inside alpha-beta: the network in the kernel, its targets, and the player."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import zermelo as z
from support.learners import GAME, OURS, PUBLISHED, tiny
from zermelo.cli import cli
from zermelo.core.position import Position
from zermelo.games.geometry import list_windows
from zermelo.games.lines.published import PublishedTactics
from zermelo.learn.actors.protocol import RolloutRequest
from zermelo.learn.batch.encoders import Encoder, board_lines, num_line_indices
from zermelo.learn.batch.game_batch import GameBatch
from zermelo.learn.config import recipes
from zermelo.learn.config.recipe import Recipe
from zermelo.learn.config.validation import BadRecipe
from zermelo.learn.hybrid import player as hybrid
from zermelo.learn.hybrid import trainer as value
from zermelo.learn.hybrid.kernel_network import UNIT, Looking, net_for, valued, worth
from zermelo.learn.models import model
from zermelo.learn.networks import weights_file
from zermelo.learn.networks.weights_file import BadWeights
from zermelo.learn.runs import training
from zermelo.search.explain.analysis import analyze, to_json
from zermelo.search.limits import SearchClock
from zermelo.search.negamax import arrays as a
from zermelo.search.negamax.searcher import NegamaxSearcher

NAMES = {"ours": OURS, "published": PUBLISHED}


def states(number: int, seed: int = 1) -> Any:
    """Running games that need a search."""
    game_batch = GameBatch(GAME)
    found = game_batch.sample_states(2 * number, 20, seed)
    return np.ascontiguousarray(found[game_batch.needs_search(found)][:number])


@pytest.fixture(scope="module", params=NAMES)
def made(request: pytest.FixtureRequest) -> tuple[Recipe, Any, Looking]:
    """A network that has not learned, and searches with it."""
    recipe = NAMES[request.param]
    torch.manual_seed(3)
    net = value.network_for(recipe, GAME).eval()
    looking = value.looking_for(recipe, GAME)
    looking.load(net.export())
    return recipe, net, looking


def test_the_published_network_has_as_many_parameters() -> None:
    net = value.network_for(PUBLISHED, GAME)
    assert sum(p.numel() for p in net.parameters()) == 686_081


def test_lines_of_the_board() -> None:
    assert len(board_lines(GAME.grid)) == 20, "5 rows, 5 columns, 10 diagonals of three or more"
    assert num_line_indices(GAME.grid) == 12 * 3**5 + 4 * 3**4 + 4 * 3**3
    # The first row is X O . . X: 1 + 2 * 3 + 1 * 81 to the base of three.
    row = GAME.position("XO..X/...../..O../...../.....", to_move=0)
    numbers = Encoder("lines", GAME)(np.array([row.state], np.uint64))
    assert numbers.shape == (1, 8, 20 + 25)
    assert numbers[0, 0, 0] == 88
    # Cells: a1 own, b1 the other's, c1 nothing in particular.
    begin = num_line_indices(GAME.grid)
    assert (numbers[0, 0, 20:23] - begin).tolist() == [0, 18 + 1, 2 * 18 + 2]


def test_what_cells_are() -> None:
    """X moves: on c1 it makes four, and three on the way; c5 would lose for O."""
    position = GAME.position("XX.X./...../..O../...../OO...", to_move=0)
    numbers = Encoder("lines", GAME)(np.array([position.state], np.uint64))[0, 0, 20:]
    kinds = numbers - num_line_indices(GAME.grid) - 18 * np.arange(25)
    # After 2 for a free cell: 1 wins, 2 wins for the other side, 4 and 8 the same for three.
    assert kinds[2] == 2 + 1 + 4
    assert kinds[22] == 2 + 8
    assert kinds[12] == 1


def test_symmetric_states_are_worth_the_same() -> None:
    torch.manual_seed(3)
    hooks = valued(GAME, "lines", OURS.network.hidden)
    net = net_for(hooks, value.network_for(OURS, GAME).export())
    searcher = NegamaxSearcher(hooks, table_bits=10, symmetry=False, network=net)
    seen = states(10)
    for turn in range(8):
        turned = GameBatch(GAME).transform(seen, np.full(len(seen), turn))
        for state, image in zip(seen, turned, strict=True):
            one, other = (
                searcher.search(tuple(map(int, s)), 0, -hooks.win_score, hooks.win_score, SearchClock())
                for s in (state, image)
            )
            assert abs(one - other) <= 1, "but for the order of sums"


def test_the_kernel_says_what_the_network_says(made: tuple[Recipe, Any, Looking]) -> None:
    recipe, net, looking = made
    seen = states(300)
    encoder = Encoder(value.ENCODERS[recipe.network.kind], GAME)
    with torch.no_grad():
        wanted = net(torch.from_numpy(encoder(seen))).numpy() * UNIT
    hooks, held = looking.hooks, looking._net
    # One ply ahead every child that needs a search is judged by the network alone.
    held.blend = (1000, 0)
    searcher = NegamaxSearcher(hooks, table_bits=10, symmetry=False, network=net_for(hooks, net.export()))
    found = [
        searcher.search(tuple(map(int, state)), 0, -hooks.win_score, hooks.win_score, SearchClock())
        for state in seen
    ]
    assert np.abs(np.array(found) - wanted).max() <= 1.01
    assert len({round(float(v), 3) for v in wanted}) > 100, "not all the same"


def test_python_says_what_the_kernel_says(made: tuple[Recipe, Any, Looking]) -> None:
    _, net, looking = made
    hooks = looking.hooks
    held = net_for(hooks, net.export())
    searcher = NegamaxSearcher(hooks, table_bits=10, symmetry=False, network=held)
    for row in states(3):
        state = tuple(map(int, row))
        compiled = searcher.search(state, 0, -hooks.win_score, hooks.win_score, SearchClock())
        assert abs(int(hooks.evaluate_network(state, held.weights, held.layers)) - compiled) <= 1


def test_many_searches_are_single_ones(made: tuple[Recipe, Any, Looking]) -> None:
    _, net, looking = made
    hooks = looking.hooks
    plain = NegamaxSearcher(hooks, table_bits=16, symmetry=False, network=net_for(hooks, net.export(), cache=0))
    seen = states(6, seed=2)
    for plies in (1, 2, 3):
        scores = plain.look_ahead_batch(seen, plies)
        for state, row in zip(seen, scores, strict=True):
            root = tuple(map(int, state))
            plain.renew()
            for action in range(25):
                if action not in hooks.actions(root):
                    assert row[action] == a.NO_SCORE
                    continue
                child = hooks.play(root, action)
                over, won = hooks.result(child)
                score = won * hooks.win_score
                if not over:
                    far = hooks.win_score + 1
                    score = plain.search(child, plies - 1, -far, far, SearchClock())
                assert row[action] == -score + (score > 0) - (score < 0)


def test_the_cache_changes_nothing_and_dies_with_the_weights() -> None:
    torch.manual_seed(3)
    net = value.network_for(OURS, GAME)
    hooks = valued(GAME, "lines", OURS.network.hidden)
    seen = states(8, seed=4)
    with_cache = net_for(hooks, net.export())
    cached = NegamaxSearcher(hooks, table_bits=16, symmetry=False, network=with_cache)
    plain = NegamaxSearcher(hooks, table_bits=16, symmetry=False, network=net_for(hooks, net.export(), cache=0))
    assert (cached.look_ahead_batch(seen, 3) == plain.look_ahead_batch(seen, 3)).all()
    asked, found = int(cached.control[a.NETWORK_LOOKUPS]), int(cached.control[a.CACHE_HITS])
    assert asked == plain.control[a.NETWORK_LOOKUPS]
    assert 0 < found < asked
    assert plain.control[a.CACHE_HITS] == 0
    looking = value.looking_for(OURS, GAME)
    looking.load(net.export())
    before = looking.worths(seen, 2)[0]
    torch.manual_seed(4)
    looking.load(value.network_for(OURS, GAME).export())
    assert not looking._net.estimates.any()
    assert not np.allclose(before, looking.worths(seen, 2)[0])


def test_blends() -> None:
    torch.manual_seed(3)
    arrays = value.network_for(OURS, GAME).export()
    hooks = valued(GAME, "lines", OURS.network.hidden)
    state = tuple(map(int, states(1)[0]))

    def estimate(*shares: int) -> int:
        net = net_for(hooks, arrays, shares)
        searcher = NegamaxSearcher(hooks, table_bits=10, symmetry=False, network=net)
        return searcher.search(state, 0, -hooks.win_score, hooks.win_score, SearchClock())

    learned, known = estimate(1000, 0), estimate(0, 1000)
    assert known == GAME.hooks.evaluate(state)
    assert estimate(600, 400) == (600 * learned + 400 * known) // 1000


def test_worth_of_scores() -> None:
    far = GAME.hooks.win_score
    scores = np.array([far - 1, far - 5, 3 - far, 0, UNIT // 2])
    wanted = [0.99, 0.99**5, -(0.99**3), 0.0, 0.5 * 0.99**3]
    assert worth(scores, 3, 0.99, far) == pytest.approx(wanted)


def test_what_a_search_teaches_is_true(made: tuple[Recipe, Any, Looking]) -> None:
    """A state that is taught as decided is decided so, as long as it is said."""
    recipe, _, looking = made
    worths, _, taught = looking.worths(states(25, seed=5), 3)
    gamma = recipe.acting.gamma
    assert (np.abs(worths) <= 1).all()
    assert (taught.discounts == 0).all()
    assert GameBatch(GAME).needs_search(taught.states).all(), "states that need no network teach it nothing"
    decided = 0
    for state, known in zip(taught.states, taught.returns, strict=True):
        plies = np.log(abs(known)) / np.log(gamma) if known else 99
        if abs(plies - round(plies)) < 1e-3 and plies < 7:
            exact = z.solve(Position(GAME, tuple(map(int, state)), None))
            assert exact.value == ("win" if known > 0 else "loss")
            decided += 1
    assert decided > 5


def test_steps_are_seen_by_the_side_to_move() -> None:
    """As published: the reward where the game ends, else the next state's value, negated."""
    rollouts = value.ValueRollouts(tiny(PUBLISHED), GAME)
    arrays = value.network_for(PUBLISHED, GAME).export()
    chunk = rollouts(arrays, RolloutRequest((0, 0), 0.0))
    ends = 0
    for state, action, reward, factor, later in zip(
        *(chunk[name] for name in ("states", "actions", "returns", "factors", "later")), strict=True
    ):
        after = GAME.play(tuple(map(int, state)), int(action))
        assert tuple(map(int, later)) == after
        over, won = GAME.result(after)
        assert (reward, factor) == ((-won, 0) if over else (0, pytest.approx(-0.95)))
        ends += over
    assert ends == len(chunk["results"]) == 3
    assert set(chunk["results"].tolist()) <= {-1, 0, 1}


def test_targets_of_steps() -> None:
    """The loss is that of the written target: -g * V'(next), V' as it was at the last renewal."""
    recipe = tiny(PUBLISHED)
    recipe = replace(recipe, network=replace(recipe.network, dropout=0.0))
    trainer = training.create_trainer(recipe, GAME, 1, "cpu", training._crew(recipe, 0, None))
    assert isinstance(trainer, value.Value)
    chunk = trainer.rollouts.next(0.0)
    fields = ("states", "actions", "returns", "factors", "later")
    trainer.replay.add(value.Transitions(*(chunk[name] for name in fields)))
    rng = trainer.rng.bit_generator.state
    drawn = trainer.replay.sample(16, trainer.rng).transitions
    turns = trainer.rng.integers(0, 8, 16)
    trainer.rng.bit_generator.state = rng
    encode, game_batch = trainer.encoder, trainer.game_batch
    with torch.no_grad():
        now = trainer.net(torch.from_numpy(encode(game_batch.transform(drawn.states, turns)))).numpy()
        later = trainer.slow(
            torch.from_numpy(encode(game_batch.transform(drawn.next_states, turns)))
        ).numpy()
    wanted = np.where(drawn.discounts == 0, drawn.returns, -0.95 * later)
    loss, _ = trainer.learn(1e-3)
    assert loss == pytest.approx(float(np.square(now - wanted).mean()), rel=1e-4)


def test_the_published_evaluation() -> None:
    """200, 20, 2 by stones in open lines; -100 for losing lines with two; 10 in the centre."""
    hooks = PublishedTactics(GAME)
    one = GAME.position("...../.X.../...../...../.....", to_move=1)
    # The stone is in 2 rows, 2 columns and 2 diagonals of four, and in the centre.
    lines = sum(begin + place * step == 6 for begin, step in _windows() for place in range(4))
    assert hooks.evaluate(one.state) == -(2 * lines + 10)
    without = PublishedTactics(GAME, centre=0)
    assert without.evaluate(one.state) == -2 * lines
    assert hooks != without


def _windows() -> list[tuple[int, int]]:
    return list_windows(GAME.grid, 4)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that has learned next to nothing."""
    out = tmp_path_factory.mktemp("runs") / "tiny"
    training.train(tiny(OURS), out, seed=2, grade=False)
    return out


def test_a_run_plays(trained: Path) -> None:
    player = z.player(f"hybrid:{trained},depth=2")
    found = player.choose(GAME.start())
    assert found.move in GAME.start().legal
    won = GAME.position(moves="a1 e5 b1 e4 d1 e2")
    assert player.choose(won).move == "c1", "what search sees it need not have learned"
    again = z.player(f"hybrid:{trained},depth=2").choose(GAME.start())
    assert (again.move, again.estimate) == (found.move, found.estimate)
    assert z.player(f"hybrid:{trained}").prepare(GAME).net.blend == (1000, 0)
    z.player(f"hybrid:{trained}").choose(GAME.start(), z.Limit(depth=1))


def test_what_it_thinks_is_shown_in_parts(trained: Path) -> None:
    position = GAME.position(moves="a1 c3 e5 b2")
    player = z.player(f"hybrid:{trained},depth=1,blend=0.5")
    found = analyze(position, z.Limit(seconds=5), player=player)
    fields = to_json(position, found, "squava")
    assert fields["source"] == "hybrid"
    assert fields["verdict"]["exact"] is True
    searched = 0
    for row in fields["candidates"]:
        parts = row["parts"]
        assert set(parts) == {"network", "heuristic", "blend"}
        if not row["exact"] and len(row["pv"]) == 1:
            # One ply ahead and nothing forced: the estimate is the blend itself.
            assert row["estimate"] == pytest.approx(parts["blend"], abs=0.002)
            searched += 1
    assert searched > 5
    plain = to_json(position, analyze(position, z.Limit(seconds=1)), "squava")
    assert "parts" not in plain["candidates"][0]


def test_the_command_shows_the_parts(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = f"hybrid:{trained},depth=1"
    cli(
        ["analyze", "squava", "--moves", "a1 c3", "--player", spec, "--seconds", "2"],
        standalone_mode=False,
    )
    shown = capsys.readouterr().out
    assert "network" in shown
    assert "heuristic" in shown


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ("hybrid:depth=0", "depth is 0: it must be 1 or more"),
        ("hybrid:blend=2", "blend is 2: it must be from 0"),
        ("hybrid:nowhere", "there is no model 'nowhere'"),
        ("hybrid:tictactoe-dqn", "it plays as dqn:tictactoe-dqn"),
    ],
)
def test_bad_hybrids_say_what_is_wrong(spec: str, part: str) -> None:
    with pytest.raises(z.ZermeloError, match=part):
        z.player(spec).choose(GAME.start())


def test_files_that_do_not_fit(trained: Path, tmp_path: Path) -> None:
    with pytest.raises(BadWeights, match="was trained for squava, not for tictactoe"):
        z.player(f"hybrid:{trained}").choose(z.game("tictactoe").start())
    with pytest.raises(BadWeights, match="it plays as hybrid:"):
        z.player(f"dqn:{trained}").choose(GAME.start())
    arrays, said = weights_file.read(trained / model.FINAL)
    for name, change, part in (
        ("hidden", [128], "two widths"),
        ("hidden", [10**9, 5], "two widths"),
        ("depth", "4", "how deep"),
        ("shares", [2, 0], "which blend"),
        ("hidden", [64, 32], "but by the network's shape"),
    ):
        path = tmp_path / "changed.safetensors"
        weights_file.write(path, arrays, said | {"shape": said["shape"] | {name: change}})
        with pytest.raises(BadWeights, match=part):
            z.player(f"hybrid:{path}").choose(GAME.start())


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ('kind = "lines"', 'kind = "mlp"', "does not go with kind value"),
        ('kind = "lines"', 'kind = "rings"', "'rings'"),
        ("[64, 64]", "[64]", "two widths"),
        ('targets = "search"', 'targets = "hope"', "it can be search or steps"),
        ("depth = 2", "depth = 0", "must be 1 or more"),
    ],
)
def test_bad_recipes(old: str, new: str, part: str, tmp_path: Path) -> None:
    source = Path(recipes.__file__).parent / "cookbook" / "squava-hybrid.toml"
    text = source.read_text()
    assert old in text
    path = tmp_path / "bad.toml"
    path.write_text(text.replace(old, new))
    with pytest.raises((BadRecipe, z.ZermeloError), match=part):
        recipes.load(str(path))


def test_the_card_has_both_grades(tmp_path: Path) -> None:
    run = training.train(replace(tiny(OURS), name="carded"), tmp_path / "run", seed=1)
    card = json.loads((run.folder / "card.json").read_text())
    assert set(card["grades"]) == {"raw", "search"}
    assert card["grades"]["search"]["positions"] == 500
    assert "with its search" in (run.folder / "card.md").read_text()
    assert run.player == f"hybrid:{run.folder}"


def test_hybrid_engine_without_a_cache(trained: Path) -> None:
    engine, depth = hybrid.hybrid_engine(str(trained), GAME, cache=0)
    assert depth == OURS.searching.play_depth
    assert len(engine.net.estimates) == 0
