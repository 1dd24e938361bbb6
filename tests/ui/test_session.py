"""A session: what screens see and ask for, with players thinking in threads."""

import random
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import zermelo as z
from zermelo.core.player import Analysis, Limit, Player
from zermelo.core.position import Position
from zermelo.games import registry
from zermelo.matches import saves
from zermelo.players import registry as roster
from zermelo.ui.session import Session


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ZERMELO_HOME", str(tmp_path))
    return tmp_path


def until(is_so: Callable[[], object], seconds: float = 20.0) -> None:
    end = time.perf_counter() + seconds
    while not is_so():
        assert time.perf_counter() < end, "it never came about"
        time.sleep(0.002)


class Slow(Player):
    """Has a move at once, and goes on until it is stopped or let go."""

    name = "slow"

    def __init__(self) -> None:
        self.ready = threading.Event()
        self.thoughts = 0

    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        self.thoughts += 1
        yield Analysis(position.legal[0])
        assert limit.stop
        while not self.ready.is_set() and not limit.stop.wait(0.005):
            pass
        yield Analysis(position.legal[-1])


class Failing(Player):
    """Has no move, the first time."""

    name = "failing"

    def __init__(self) -> None:
        self.fails = True

    def think(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        del limit
        if self.fails:
            self.fails = False
            raise RuntimeError
        yield Analysis(position.legal[0])


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    made = roster.player
    player = Slow()
    monkeypatch.setattr(roster, "player", lambda spec: player if spec == "slow" else made(spec))
    return player


def test_two_humans_play_a_game() -> None:
    session = Session("tictactoe", "human", "human")
    for move in ["b2", "a1", "c1", "b1", "a3"]:
        view = session.view()
        assert view.turn == "you"
        assert move in view.legal
        session.play(move)
    view = session.view()
    assert view.outcome is z.Outcome.FIRST
    assert view.verdict == "X wins"
    assert (view.turn, view.legal, view.thinking, view.seconds) == (None, [], False, 0.0)
    assert (view.ply, view.plies) == (5, 5)
    assert len(view.times) == 5
    session.play("c3")
    assert "the game is over" in session.view().message


@pytest.mark.parametrize(
    "bad", ["", " ", "z9", "b2", "9", "\u00b2", "\x00\x1b[A", "x" * 1_000_000, "b2 a1", "undo"]
)
def test_bad_moves_become_messages(bad: str) -> None:
    session = Session("tictactoe", "human", "human", moves=["b2"])
    session.play(bad)
    view = session.view()
    assert view.message.startswith("Illegal move")
    assert len(view.message) < 300
    assert view.moves == ("b2",)
    session.play("a1")
    assert session.view().message == ""


def test_players_reply() -> None:
    changes = threading.Event()
    session = Session("tictactoe", "random:seed=1", "human", on_change=changes.set)
    until(lambda: session.view().plies == 1)
    assert changes.wait(5)
    assert session.view().message == f"random:seed=1 (X) plays {session.view().moves[0]}"
    session.play(session.view().legal[0])
    until(lambda: session.view().plies == 3)


def test_a_reply_after_undo_is_dropped(slow: Slow) -> None:
    session = Session("tictactoe", second="slow")
    session.play("b2")
    until(lambda: slow.thoughts == 1)
    assert session.view().thinking
    session.play("a1")
    assert session.view().message == "It is slow's turn."
    session.undo()
    assert session.view().plies == 0
    assert not session.view().thinking
    slow.ready.set()
    time.sleep(0.05)
    assert session.view().plies == 0
    session.play("c1")
    until(lambda: session.view().plies == 2)
    assert session.view().moves == ("c1", "c3")
    assert slow.thoughts == 2


def test_another_game_while_thinking_drops_the_reply(slow: Slow) -> None:
    session = Session("tictactoe", second="slow")
    session.play("b2")
    until(lambda: slow.thoughts == 1)
    session.choose(game="connect4")
    slow.ready.set()
    time.sleep(0.05)
    view = session.view()
    assert (view.game.spec, view.moves, view.turn) == ("connect4", (), "you")
    session.choose(game="tictactoe")  # found as it was left, and the player goes on
    until(lambda: session.view().plies == 2)
    assert session.view().moves[0] == "b2"


def test_another_player_while_thinking(slow: Slow) -> None:
    session = Session("tictactoe", second="slow", moves=["b2"])
    until(lambda: slow.thoughts == 1)
    session.choose(second="human")
    session.play("a1")
    slow.ready.set()
    time.sleep(0.05)
    assert session.view().moves == ("b2", "a1")


def test_closing_while_thinking_ends_the_threads_and_saves(slow: Slow) -> None:
    before = threading.active_count()
    session = Session("tictactoe", second="slow", moves=["b2"])
    session.analyze(on=True)
    until(lambda: slow.thoughts == 1)
    session.close()
    until(lambda: threading.active_count() == before)  # one may still be loading its kernels
    assert saves.read() == saves.Save("tictactoe", "human", "slow", ("b2",))
    assert "zermelo play --resume" in session.view().message
    session.undo()
    session.analyze(on=True)
    assert threading.active_count() == before


def test_stop_asks_for_the_best_so_far(slow: Slow) -> None:
    session = Session("tictactoe", second="slow", moves=["b2"])
    until(lambda: slow.thoughts == 1)
    session.stop()
    until(lambda: session.view().plies == 2)
    session.stop()
    assert session.view().turn == "you"


@pytest.mark.parametrize("spec", ["mcts:seconds=10", "alphabeta:10"])
def test_ten_seconds_of_thinking_stop_within_a_tenth(spec: str) -> None:
    took = []
    for _ in range(3):
        session = Session("connect4", second=spec, moves=["4"])
        time.sleep(0.6)
        assert session.view().thinking
        begin = time.perf_counter()
        session.stop()
        until(lambda: not session.view().thinking)  # noqa: B023
        took.append(time.perf_counter() - begin)
        assert session.view().plies == 2
        session.close()
        if took[-1] < 0.1:
            break
    assert min(took) < 0.1


def test_a_player_without_a_move_waits_to_be_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    player = Failing()
    monkeypatch.setattr(roster, "player", lambda _: player)
    session = Session("tictactoe", second="failing")
    session.play("b2")
    until(lambda: session.view().waiting)
    view = session.view()
    assert view.message == "Failing: RuntimeError."
    assert (view.turn, view.thinking, view.moves) == ("failing", False, ("b2",))
    session.go()
    until(lambda: session.view().plies == 2)
    assert not session.view().waiting


def test_perfect_stopped_too_early_loses_nothing() -> None:
    session = Session("connect4:7x7", second="perfect", moves=["4"])
    session.stop()
    until(lambda: session.view().waiting)
    assert session.view().message == "Perfect was stopped before it had a move."
    assert session.view().moves == ("4",)
    session.close()


def test_undo_and_redo_stop_at_a_humans_choice(slow: Slow) -> None:
    slow.ready.set()
    session = Session("tictactoe", second="slow")
    session.undo()
    assert session.view().message == "There is nothing to take back."
    session.redo()
    assert session.view().message == "There is nothing to play again."
    session.play("b2")
    until(lambda: session.view().plies == 2)
    session.play("a1")
    until(lambda: session.view().plies == 4)
    session.undo()
    session.undo()
    assert session.view().plies == 0
    assert session.view().redoable == 4
    session.redo()
    assert session.view().moves == ("b2", "c3")
    session.redo()
    assert session.view().plies == 4
    assert slow.thoughts == 2
    session.undo()
    session.play("c1")
    assert session.view().redoable == 0


@pytest.mark.parametrize("seats", [("human", "slow"), ("slow", "human")])
def test_a_new_game_can_be_taken_back(slow: Slow, seats: tuple[str, str]) -> None:
    slow.ready.set()
    session = Session("tictactoe", *seats)
    until(lambda: session.view().turn == "you")
    session.play("b2")
    until(lambda: session.view().turn == "you")
    moves = session.view().moves
    session.restart()
    session.restart()
    until(lambda: session.view().turn == "you")
    assert "b2" not in session.view().moves
    session.undo()
    assert session.view().message == "There is nothing to take back."
    session.redo()
    assert session.view().moves == moves
    session.restart()
    session.close()  # before a move: what was left is kept
    assert saves.read().moves == moves


def test_without_humans_undo_waits() -> None:
    session = Session("tictactoe", "random:seed=1", "random:seed=2")
    until(lambda: session.view().outcome is not None)
    plies = session.view().plies
    session.resign()
    assert session.view().message == "Nobody here can resign."
    session.undo()
    assert session.view().plies == plies - 1
    assert session.view().waiting
    session.go()
    until(lambda: session.view().outcome is not None)


def test_resigning_and_taking_it_back(slow: Slow) -> None:
    session = Session("tictactoe", second="slow")
    session.play("b2")
    session.resign()  # while the other thinks
    view = session.view()
    assert (view.verdict, view.thinking) == ("O wins: X resigned", False)
    session.resign()
    assert "the game is over" in session.view().message
    session.undo()
    assert session.view().outcome is None
    assert session.view().moves == ("b2",)


def test_earlier_plies_are_shown_and_branch_off() -> None:
    session = Session("tictactoe", "human", "human", moves=["b2", "a1", "c1", "b1"])
    session.step(2)
    view = session.view()
    assert view.position.moves == ["b2", "a1"]
    assert (view.ply, view.plies, view.legal, view.turn) == (2, 4, [], "you")
    session.play("a1")
    assert "the cell is taken" in session.view().message
    assert session.view().plies == 4
    session.step(-3)
    assert session.view().ply == 0
    session.step(99)
    assert session.view().ply == 4
    session.step(2)
    session.play("c3")
    assert session.view().moves == ("b2", "a1", "c3")
    assert session.view().ply == 3


def test_no_branch_from_anothers_turn(slow: Slow) -> None:
    session = Session("tictactoe", second="slow", moves=["b2", "a1"])
    session.step(1)
    session.play("c3")
    assert session.view().message == "After move 1 it is slow's turn."
    assert session.view().plies == 2


def test_looking_back_does_not_stop_the_game(slow: Slow) -> None:
    session = Session("tictactoe", second="slow", moves=["b2"])
    session.step(0)
    slow.ready.set()
    until(lambda: session.view().plies == 2)
    assert session.view().ply == 0


@pytest.mark.parametrize(
    ("what", "part"),
    [
        ({"game": "chess"}, "Unknown game 'chess'"),
        ({"game": "mnk"}, "needs its sizes"),
        ({"game": "no/such.py"}, "there is no such file"),
        ({"second": "nobody"}, "Unknown player 'nobody'"),
        ({"second": "level:99"}, "there are levels 1 to 10"),
        ({"first": "\x00"}, "Unknown player"),
        ({"game": "connect4", "second": "nobody"}, "Unknown player"),
        ({"game": "gomoku", "second": "dqn"}, "gomoku"),
    ],
)
def test_a_bad_choice_loses_nothing(what: dict[str, str], part: str) -> None:
    session = Session("tictactoe", "human", "human", moves=["b2"])
    session.choose(**what)
    view = session.view()
    assert part in view.message
    assert (view.game.spec, view.players, view.moves) == ("tictactoe", ("human", "human"), ("b2",))


def test_seats_swap() -> None:
    session = Session("tictactoe", second="random:seed=1")
    session.swap()
    assert session.players == ("random:seed=1", "human")
    until(lambda: session.view().plies == 1)
    assert session.view().turn == "you"


def test_live_analysis_follows_what_is_shown() -> None:
    session = Session("tictactoe", "human", "human", moves=["a1", "a2", "b1", "b2"])
    assert session.view().analysis is None
    session.analyze(on=True)
    until(lambda: (found := session.view().analysis) and found.exact)
    assert session.view().analysis.move == "c1"  # type: ignore[union-attr]
    session.step(0)
    until(lambda: (found := session.view().analysis) and len(found.candidates) == 9)
    session.step(4)
    session.play("c1")
    assert session.view().analysis is None  # the game is over
    session.undo()
    until(lambda: session.view().analysis)
    session.analyze(on=False)
    assert session.view().analysis is None
    session.close()


def test_a_game_left_is_resumed_and_a_finished_one_forgotten(home: Path) -> None:
    session = Session("tictactoe", "human", "human")
    session.play("b2")
    session.choose(game="connect4")
    session.play("4")
    session.close()
    assert saves.read().game == "connect4"
    assert saves.read("tictactoe").moves == ("b2",)
    again = Session("tictactoe", "human", "human", moves=saves.read("tictactoe").moves)
    for move in ["a1", "c1", "b1", "a3"]:
        again.play(move)
    again.close()
    with pytest.raises(z.ZermeloError, match="no game of tictactoe"):
        saves.read("tictactoe")


def test_nothing_is_saved_that_was_not_begun(home: Path) -> None:
    Session("tictactoe", "human", "human").close()
    assert not list(home.rglob("*.json"))


def test_a_game_that_cannot_be_saved_is_told(home: Path) -> None:
    (home / "saved").write_text("in the way")
    session = Session("tictactoe", "human", "human", moves=["b2"])
    session.save()
    assert "could not be saved" in session.view().message
    assert session.view().message.endswith("its moves: b2.")
    session.close()


def test_every_game_and_every_player() -> None:
    session = Session("tictactoe", second="random:seed=1")
    for entry in registry.entries():
        spec = entry.example if entry.name == "mnk" else entry.name
        session.choose(game=spec)
        assert session.view().message == ""
        session.play(session.view().legal[0])
        until(lambda: session.view().turn == "you")
        assert session.view().plies == 2
    session.choose(game="tictactoe")
    for player in roster.entries():
        session.restart()
        session.choose(second=player.name)
        if "No model is shipped" in session.view().message:
            continue
        assert session.view().message == ""
        session.play("b2")
        if player.factory:
            until(lambda: session.view().turn == "you")
            assert session.view().plies == 2, session.view().message
    session.close()


def test_many_threads_at_once_leave_a_game_in_order(slow: Slow) -> None:
    session = Session("tictactoe", second="slow")
    slow.ready.set()
    failures: list[BaseException] = []

    def hammer(seed: int) -> None:
        rng = random.Random(seed)
        acts: list[Callable[[], None]] = [
            lambda: session.play(rng.choice(["a1", "b2", "c3", "z9", "c1"])),
            session.undo,
            session.redo,
            session.stop,
            session.swap,
            session.go,
            lambda: session.step(rng.randrange(-1, 9)),
            lambda: session.choose(game=rng.choice(["tictactoe", "connect4", "chess"])),
            lambda: session.choose(second=rng.choice(["slow", "human", "random", "nobody"])),
            lambda: session.analyze(on=rng.random() < 0.2),
        ]
        try:
            for _ in range(150):
                rng.choice(acts)()
                view = session.view()
                assert view.game.position(moves=view.moves).moves == list(view.moves)
                assert view.position.moves == list(view.moves[: view.ply])
                assert len(view.times) == view.plies
        except BaseException as error:  # noqa: BLE001 - told below, in the test's thread
            failures.append(error)

    threads = [threading.Thread(target=hammer, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    session.close()
    assert not failures
