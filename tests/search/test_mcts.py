"""Monte Carlo tree search: the arithmetic of the tree, its proofs, limits, seeds, every game."""

import contextlib
import functools
import random
import threading
import time
from typing import Any

import numpy as np
import pytest

import zermelo as z
from zermelo.core.errors import BadSpec
from zermelo.core.game import WordGame
from zermelo.core.value import Value
from zermelo.players import mcts
from zermelo.players.mcts import MCTSPlayer
from zermelo.search.limits import SearchClock, SearchStopped
from zermelo.search.mcts import kernel as tree_kernel
from zermelo.search.mcts import tree
from zermelo.search.mcts.evaluators import load_evaluator
from zermelo.search.mcts.kernel import (  # fmt: skip
    DRAW,
    FIRST_CHILD,
    LOSS,
    NUM_CHILDREN,
    NUM_VISITED,
    PROOF,
    ROOT,
    UNPROVEN,
    VALUE_SCALE,
    VALUE_SUM,
    VISITS,
    WIN,
)
from zermelo.search.mcts.tree import MCTSTree
from zermelo.search.solver.solver import Solver

GAMES = ["tictactoe", "connect4", "gomoku6", "squava", "reversi", "mnk:4x4x3", "squava:pie=true",
         "gomoku", "gomoku:renju=true", "reversi:6"]  # fmt: skip


def random_position(game: z.Game, plies: int, seed: int) -> z.Position:
    """Return a position after random moves that is not over."""
    rng = random.Random(seed)
    while True:
        position = game.start()
        for _ in range(plies):
            if position.is_over:
                break
            position = position.play_action(rng.choice(position.actions))
        if not position.is_over:
            return position


def grow_tree(game: z.Game, state: Any, sims: int, **options: Any) -> MCTSTree:
    """Return a tree after a number of simulations."""
    search_tree = MCTSTree(game, **({"c": 1.0, "use_solver": True, "seed": 1} | options))
    search_tree.reset(state)
    for _ in search_tree.simulate(sims, SearchClock()):
        pass
    return search_tree


@functools.cache
def solver(game: WordGame) -> Solver:
    return Solver(game)


def truth(position: z.Position) -> int:
    """Return the value for the side to move, by the solver."""
    assert isinstance(position.game, WordGame)
    return solver(position.game).sign(position.state)


@pytest.mark.parametrize("spec", ["tictactoe", "squava", "connect4", "mnk:4x4x3", "reversi:4"])
def test_what_it_proves_is_true(spec: str) -> None:
    game = z.game(spec)
    plies = {"tictactoe": 2, "squava": 10, "connect4": 26, "mnk:4x4x3": 4, "reversi:4": 5}[spec]
    proven = 0
    for seed in range(60):
        position = random_position(game, plies, seed)
        search_tree = grow_tree(game, position.state, 3000, seed=seed)
        for child in search_tree.root_moves():
            if child.value is not None:
                proven += 1
                assert child.value == -truth(position.play_action(child.action))
        found = MCTSPlayer(3000, seed=seed).choose(position)
        if found.exact:
            assert found.value == Value.from_score(truth(position))
    assert proven > 60


@pytest.mark.parametrize("solver", [True, False])
@pytest.mark.parametrize("spec", ["connect4", "squava", "gomoku", "reversi"])
def test_the_arithmetic_of_a_tree(spec: str, solver: bool) -> None:
    game = z.game(spec)
    search_tree = grow_tree(game, game.initial(), 4000, use_solver=solver)
    nodes, stats, *_ = search_tree._arrays
    used = int(search_tree._control[tree_kernel.NUM_NODES])
    assert nodes[ROOT, VISITS] == 4000
    checked = 0
    todo = [ROOT]
    while todo:
        node = todo.pop()
        first, tried = int(nodes[node, FIRST_CHILD]), int(nodes[node, NUM_VISITED])
        assert tried <= nodes[node, NUM_CHILDREN]
        assert first + nodes[node, NUM_CHILDREN] <= used
        children = list(range(first, first + tried))
        todo += children
        visits, total = int(nodes[node, VISITS]), int(nodes[node, VALUE_SUM])
        assert abs(total) <= visits
        if nodes[node, PROOF] == UNPROVEN:
            assert stats[node, 0] == np.float32(total) / np.float32(visits)
        if children and nodes[node, PROOF] == UNPROVEN:
            checked += 1
            # Its own first visit, then one of a child each time.
            assert visits == 1 + sum(int(nodes[child, VISITS]) for child in children)
            below = sum(int(nodes[child, VALUE_SUM]) for child in children)
            assert abs(total + below) <= 1  # the first visit's own random game
    assert checked > 50


@pytest.mark.parametrize("evaluator", [None, "heuristic"])
@pytest.mark.parametrize("spec", ["tictactoe", "connect4", "squava"])
def test_native_and_plain_python_grow_the_same_tree(
    spec: str, evaluator: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = z.game(spec)
    heuristic_evaluator = None if evaluator is None else load_evaluator(evaluator, game)
    options = {"evaluator": heuristic_evaluator, "batch": 8 if heuristic_evaluator else 1}
    native = grow_tree(game, game.initial(), 300, **options)
    monkeypatch.setattr(
        tree.TraversalArrays,
        "bind_kernel",
        lambda room, function, **_: functools.partial(
            function, room.game.hooks if isinstance(room.game, WordGame) else room.game
        ),
    )
    plain = grow_tree(game, game.initial(), 300, **options)
    assert native.root_moves() == plain.root_moves()
    used = int(native._control[tree_kernel.NUM_NODES])
    assert used == plain._control[tree_kernel.NUM_NODES]
    best = native.root_moves()[0].action
    assert native.principal_variation(best) == plain.principal_variation(best)


@pytest.mark.parametrize("spec", GAMES)
def test_every_game(spec: str) -> None:
    game = z.game(spec)
    player = z.player("mcts:sims=600,seed=3")
    position = game.start()
    for _ in range(6):
        found = player.choose(position, z.Limit(all_moves=True))
        assert found.nodes == 600 or found.exact
        assert sorted(c.move for c in found.candidates) == sorted(position.legal)
        assert found.candidates[0].move == found.move
        assert found.source == "mcts"
        for candidate in found.candidates[:3]:
            line = position
            for move in candidate.pv:
                line = line.play(move)
        position = position.play(found.move)


def test_a_game_of_the_users_own_in_plain_python(tmp_path: Any) -> None:
    file = tmp_path / "nim.py"
    file.write_text(
        "num_actions = 3\n"
        "def initial(): return (7, 0)\n"
        "def player(state): return state[1]\n"
        "def actions(state): return [n for n in range(3) if n < state[0]]\n"
        "def play(state, action): return (state[0] - action - 1, 1 - state[1])\n"
        "def result(state): return (state[0] == 0, -1 if state[0] == 0 else 0)\n"
    )
    game = z.game(str(file))
    found = z.player("mcts:sims=300,seed=1").choose(game.start())
    # Leave a multiple of four: of seven take three, action 2.
    assert (found.move, found.value, found.exact) == ("2", "win", True)


@pytest.mark.parametrize("spec", ["connect4", "gomoku"])
def test_a_seed_gives_the_same_moves(spec: str) -> None:
    def line(seed: int) -> list[str]:
        player, position, moves = z.player(f"mcts:sims=300,seed={seed}"), z.game(spec).start(), []
        for _ in range(8):
            moves.append(player.choose(position).move)
            position = position.play(moves[-1])
        return moves

    assert line(1) == line(1)
    assert len({tuple(line(seed)) for seed in range(4)}) > 1
    player, start = z.player("mcts:sims=300,seed=5"), z.game(spec).start()
    first = player.choose(start)
    player.reseed(5)
    assert player.choose(start).candidates == first.candidates


def test_the_tree_is_kept_from_move_to_move() -> None:
    game = z.game("connect4")
    search_tree = grow_tree(game, game.initial(), 5000)
    best = search_tree.root_moves()[0]
    reply = game.start().play_action(best.action)
    node = search_tree._find(reply.state)
    assert node is not None
    kept = [search_tree._root_move(child) for child in search_tree._ranked(node)]
    assert search_tree.advance_to(reply.state)
    assert search_tree.visits == best.visits
    assert search_tree.root_moves() == kept
    # Two moves on: a reply to what seemed best.
    search_tree = grow_tree(game, game.initial(), 5000)
    answer = kept[0].action
    assert search_tree.advance_to(reply.play_action(answer).state)
    assert search_tree.visits == kept[0].visits
    assert not search_tree.advance_to(game.initial())
    before = search_tree.visits
    for _ in search_tree.simulate(1000, SearchClock()):
        pass
    assert search_tree.visits == before + 1000


def test_keeping_the_tree_changes_no_proof() -> None:
    player = z.player("mcts:sims=400,seed=2")
    for seed in range(10):
        position = random_position(z.game("squava"), 8, seed)
        while not position.is_over:
            found = player.choose(position)
            if found.exact:
                assert found.value == Value.from_score(truth(position))
            position = position.play(found.move)


def test_limits_are_kept() -> None:
    position = z.game("connect4").start()
    player = z.player("mcts:seconds=0.2")
    player.choose(position, z.Limit(nodes=10))  # compiles
    late = []
    for _ in range(3):
        begin = time.perf_counter()
        found = z.player("mcts:seconds=0.2").choose(position)
        late.append(time.perf_counter() - begin - 0.2)
        assert found.nodes > 1000
    assert min(late) < 0.05
    assert z.player("mcts").choose(position).nodes == mcts.SIMS
    assert z.player("mcts:sims=123").choose(position).nodes == 123
    assert z.player("mcts:sims=5000").choose(position, z.Limit(nodes=700)).nodes == 700
    stop = threading.Event()
    stop.set()
    assert z.player("mcts:sims=10000000").choose(position, z.Limit(stop=stop)).nodes <= 1000


def test_answers_improve_while_it_thinks() -> None:
    position = z.game("connect4").start()
    nodes = [a.nodes for a in z.player("mcts:seconds=0.6").think(position, z.Limit())]
    assert len(nodes) > 2
    assert nodes == sorted(nodes)


def test_a_full_tree_stops_growing_but_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MAX_NODES", 1 << 12)
    game = z.game("gomoku6")
    search_tree = grow_tree(game, game.initial(), 30_000, use_solver=False)
    assert search_tree.visits == 30_000
    assert len(search_tree._arrays[0]) == 1 << 12


def exact_evaluator(game: WordGame, calls: list[int]) -> Any:
    """Return an evaluator with exact values and uniform priors."""

    def evaluate(roots: Any) -> Any:
        calls.append(len(roots))
        values = [truth(z.Position(game, tuple(map(int, row)), None)) for row in roots]
        priors = np.ones((len(roots), game.num_actions), np.float32)
        return priors, np.array(values, np.float32)

    return evaluate


@pytest.mark.parametrize("batch", [1, 4])
def test_an_evaluator_takes_the_place_of_rollouts(batch: int) -> None:
    game = z.game("tictactoe")
    assert isinstance(game, WordGame)
    for seed in range(20):
        position = random_position(game, 3, seed)
        calls: list[int] = []
        search_tree = grow_tree(
            game,
            position.state,
            60,
            use_solver=False,
            evaluator=exact_evaluator(game, calls),
            batch=batch,
        )
        assert max(calls) <= batch
        assert sum(calls) <= 60
        move = search_tree.root_moves()[0].action
        assert -truth(position.play_action(move)) == truth(position)
        nodes = search_tree._arrays[0]
        assert nodes[ROOT, VISITS] == 60
        # No penalty is left: what the root holds is what its children do, and its own value.
        first, tried = int(nodes[ROOT, FIRST_CHILD]), int(nodes[ROOT, NUM_VISITED])
        below = int(nodes[first : first + tried, VALUE_SUM].sum())
        assert int(nodes[ROOT, VALUE_SUM]) == -below - VALUE_SCALE * truth(position)


def test_priors_decide_what_is_looked_at_first() -> None:
    game = z.game("connect4")

    def evaluate(roots: Any) -> Any:
        priors = np.zeros((len(roots), game.num_actions), np.float32)
        priors[:, 5] = 3.0
        priors[:, 2] = 1.0
        return priors, np.zeros(len(roots), np.float32)

    search_tree = grow_tree(
        game, game.initial(), 200, use_solver=False, evaluator=evaluate, batch=4
    )
    best, second, *rest = search_tree.root_moves()
    assert (best.action, second.action) == (5, 2)
    assert best.visits > 2 * second.visits > 0
    assert sum(child.visits for child in rest) < second.visits


def test_it_is_stronger_with_more_simulations() -> None:
    points = 0.0
    for number in range(30):
        strong = z.player(f"mcts:sims=400,seed={number}")
        weak = z.player(f"mcts:sims=20,seed={number}")
        seats = (strong, weak) if number % 2 else (weak, strong)
        position = random_position(z.game("connect4"), 2, number // 2)
        while not position.is_over:
            position = position.play(seats[position.player].choose(position).move)
        outcome = position.outcome
        assert outcome is not None
        winner = outcome.winner
        points += 0.5 if winner is None else float(seats[winner] is strong)
    assert points >= 24


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("mcts:sims=0", "sims is 0"),
        ("mcts:batch=0", "batch is 0"),
        ("mcts:batch=2000000", "1 to 4096"),
        ("mcts:simulations=5", "unknown parameter"),
        ("mcts:sims=-5", "whole number"),
    ],
)
def test_bad_specs(spec: str, words: str) -> None:
    with pytest.raises(BadSpec, match=words):
        z.player(spec)


def uniform_evaluator(seconds_per_leaf: float, sizes: list[int]) -> Any:
    """Return an evaluator that knows nothing and takes this long for each state of a batch."""

    def evaluate(roots: Any) -> tuple[Any, Any]:
        sizes.append(len(roots))
        time.sleep(seconds_per_leaf * len(roots))
        return np.ones((len(roots), 36), np.float32), np.zeros(len(roots), np.float32)

    return evaluate


def search_with_evaluator(
    batch: int, sims: int | None, seconds: float, seconds_per_leaf: float = 0.0
) -> list[int]:
    """Search gomoku6; return the sizes of the batches that were evaluated."""
    game = z.game("gomoku6")
    sizes: list[int] = []
    evaluator = uniform_evaluator(seconds_per_leaf, sizes)
    searched = MCTSTree(game, c=1.5, use_solver=False, seed=0, evaluator=evaluator, batch=batch)
    searched.reset(game.initial())
    sizes.clear()
    with contextlib.suppress(SearchStopped):
        for _ in searched.simulate(sims, SearchClock(z.Limit(seconds=seconds))):
            pass
    return sizes


def test_a_large_batch_keeps_the_time_limit() -> None:
    search_with_evaluator(1, 10, 60)  # compiles the kernels
    begin = time.perf_counter()
    sizes = search_with_evaluator(4096, None, 1.0, seconds_per_leaf=0.01)
    assert 1.0 <= time.perf_counter() - begin < 1.5
    assert max(sizes) > 10, "batches are as large as the time allows"


def test_a_batch_is_whole_if_time_allows() -> None:
    assert search_with_evaluator(4, 401, 60) == [1, *[4] * 100]


@pytest.mark.parametrize(
    ("game", "evaluator", "words"),
    [
        ("connect4", "nonsense", "unknown evaluator"),
        ("connect4", "heuristic:5", "takes no argument"),
        ("gomoku", "heuristic", "up to 64 cells"),
    ],
)
def test_bad_evaluators(game: str, evaluator: str, words: str) -> None:
    with pytest.raises(BadSpec, match=words):
        z.player(f"mcts:evaluator={evaluator}").choose(z.game(game).start())


def test_the_numbers_of_what_is_proven() -> None:
    assert (LOSS - DRAW, WIN - DRAW) == (-1, 1)


def test_a_search_where_all_is_known_ends_in_time() -> None:
    position = z.game("tictactoe").position(moves="a1 b1 c1 a2 c2 b2")
    player = z.player("mcts:seconds=0.2,evaluator=heuristic,solver=false")
    player.choose(position, z.Limit(nodes=5))
    begin = time.perf_counter()
    player.choose(position)
    assert time.perf_counter() - begin < 2


def test_a_move_that_is_known_does_not_make_the_position_known() -> None:
    """Every move tried so far loses, but not every move was tried: seen with few simulations."""
    game = z.game("gomoku6")
    position = game.position(moves="d6 c5 b4 a5 a4 f1 f5 d5")
    for seed in range(40):
        found = z.player(f"mcts:sims=10,seed={seed}").choose(position)
        if found.exact:
            assert found.value == Value.from_score(truth(position))
        assert found.candidates[0].value != "loss"


def test_in_an_analysis_the_moves_beside_a_proven_win_are_evaluated_too() -> None:
    position = z.game("connect4").position(moves="4 1 4 1 4 2")
    for spec in ("mcts:sims=2000,seed=1", "mcts:sims=2000,seed=1,evaluator=heuristic"):
        found = z.player(spec).choose(position, z.Limit(all_moves=True))
        assert found.value == "win"
        assert sum(c.visits or 0 for c in found.candidates if c.exact) < 100


def test_sums_do_not_overflow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "_MAX_VALUE_SUM", 500 * VALUE_SCALE)
    game = z.game("connect4")
    heuristic_evaluator = load_evaluator("heuristic", game)
    search_tree = grow_tree(
        game, game.initial(), 10_000, use_solver=False, evaluator=heuristic_evaluator, batch=4
    )
    assert 400 < search_tree.visits < 500
