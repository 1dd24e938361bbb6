"""Sessions: what screens see and request, with players that think in threads."""

import random
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import zermelo as z
from support.piece_games import BOXES, BOXES_MOVERS, BOXES_WIN
from zermelo.core.player import Analysis, Limit, Player
from zermelo.core.position import Position
from zermelo.games import registry
from zermelo.matches import saves
from zermelo.players.registry import list_players, load_player
from zermelo.ui.session import Session


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ZERMELO_HOME", str(tmp_path))
    return tmp_path


def wait_until(condition: Callable[[], object], seconds: float = 20.0) -> None:
    end = time.perf_counter() + seconds
    while not condition():
        assert time.perf_counter() < end, "timed out"
        time.sleep(0.002)


class Slow(Player):
    """Has a move at once, and thinks until it is stopped or released."""

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
    """Raises an error the first time."""

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
    player = Slow()
    monkeypatch.setattr(
        "zermelo.ui.thinking.load_player",
        lambda spec: player if spec == "slow" else load_player(spec),
    )
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
    assert (view.ply, view.num_plies) == (5, 5)
    assert len(view.move_seconds) == 5
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
    wait_until(lambda: session.view().num_plies == 1)
    assert changes.wait(5)
    assert session.view().message == f"random:seed=1 (X) plays {session.view().moves[0]}"
    session.play(session.view().legal[0])
    wait_until(lambda: session.view().num_plies == 3)


def test_undo_cancels_the_reply(slow: Slow) -> None:
    session = Session("tictactoe", second="slow")
    session.play("b2")
    wait_until(lambda: slow.thoughts == 1)
    assert session.view().thinking
    session.play("a1")
    assert session.view().message == "It is slow's turn."
    session.undo()
    assert session.view().num_plies == 0
    assert not session.view().thinking
    slow.ready.set()
    time.sleep(0.05)
    assert session.view().num_plies == 0
    session.play("c1")
    wait_until(lambda: session.view().num_plies == 2)
    assert session.view().moves == ("c1", "c3")
    assert slow.thoughts == 2


def test_changing_the_game_cancels_the_reply(slow: Slow) -> None:
    session = Session("tictactoe", second="slow")
    session.play("b2")
    wait_until(lambda: slow.thoughts == 1)
    session.set_up(game="connect4")
    slow.ready.set()
    time.sleep(0.05)
    view = session.view()
    assert (view.game.spec, view.moves, view.turn) == ("connect4", (), "you")
    session.set_up(game="tictactoe")  # it is continued, and the player thinks again
    wait_until(lambda: session.view().num_plies == 2)
    assert session.view().moves[0] == "b2"


def test_changing_the_player_cancels_the_reply(slow: Slow) -> None:
    session = Session("tictactoe", second="slow", moves=["b2"])
    wait_until(lambda: slow.thoughts == 1)
    session.set_up(second="human")
    session.play("a1")
    slow.ready.set()
    time.sleep(0.05)
    assert session.view().moves == ("b2", "a1")


def test_closing_ends_the_threads_and_saves(slow: Slow) -> None:
    before = threading.active_count()
    session = Session("tictactoe", second="slow", moves=["b2"])
    session.set_analysis(on=True)
    wait_until(lambda: slow.thoughts == 1)
    session.close()
    wait_until(lambda: threading.active_count() == before)  # one may still load kernels
    assert saves.read() == saves.Save("tictactoe", "human", "slow", ("b2",))
    assert "zermelo play --resume" in session.view().message
    session.undo()
    session.set_analysis(on=True)
    assert threading.active_count() == before


def test_stop_plays_the_best_move_so_far(slow: Slow) -> None:
    session = Session("tictactoe", second="slow", moves=["b2"])
    wait_until(lambda: slow.thoughts == 1)
    session.stop()
    wait_until(lambda: session.view().num_plies == 2)
    session.stop()
    assert session.view().turn == "you"


@pytest.mark.parametrize("spec", ["mcts:seconds=10", "alphabeta:10"])
def test_thinking_stops_within_a_tenth_of_a_second(spec: str) -> None:
    times = []
    for _ in range(3):
        session = Session("connect4", second=spec, moves=["4"])
        time.sleep(0.6)
        assert session.view().thinking
        begin = time.perf_counter()
        session.stop()
        wait_until(lambda: not session.view().thinking)  # noqa: B023
        times.append(time.perf_counter() - begin)
        assert session.view().num_plies == 2
        session.close()
        if times[-1] < 0.1:
            break
    assert min(times) < 0.1


def test_a_player_without_a_move_is_paused(monkeypatch: pytest.MonkeyPatch) -> None:
    player = Failing()
    monkeypatch.setattr("zermelo.ui.thinking.load_player", lambda _: player)
    session = Session("tictactoe", second="failing")
    session.play("b2")
    wait_until(lambda: session.view().paused)
    view = session.view()
    assert view.message == "Failing: RuntimeError."
    assert (view.turn, view.thinking, view.moves) == ("failing", False, ("b2",))
    session.resume()
    wait_until(lambda: session.view().num_plies == 2)
    assert not session.view().paused


def test_perfect_stopped_before_it_has_a_move_is_paused() -> None:
    session = Session("connect4:7x7", second="perfect", moves=["4"])
    session.stop()
    wait_until(lambda: session.view().paused)
    assert session.view().message == "Perfect was stopped before it had a move."
    assert session.view().moves == ("4",)
    session.close()


def test_undo_and_redo_stop_at_the_turn_of_a_human(slow: Slow) -> None:
    slow.ready.set()
    session = Session("tictactoe", second="slow")
    session.undo()
    assert session.view().message == "There is no move to take back."
    session.redo()
    assert session.view().message == "There is no move to play again."
    session.play("b2")
    wait_until(lambda: session.view().num_plies == 2)
    session.play("a1")
    wait_until(lambda: session.view().num_plies == 4)
    session.undo()
    session.undo()
    assert session.view().num_plies == 0
    assert session.view().num_redoable == 4
    session.redo()
    assert session.view().moves == ("b2", "c3")
    session.redo()
    assert session.view().num_plies == 4
    assert slow.thoughts == 2
    session.undo()
    session.play("c1")
    assert session.view().num_redoable == 0


@pytest.mark.parametrize("seats", [("human", "slow"), ("slow", "human")])
def test_redo_brings_the_game_before_a_restart_back(slow: Slow, seats: tuple[str, str]) -> None:
    slow.ready.set()
    session = Session("tictactoe", *seats)
    wait_until(lambda: session.view().turn == "you")
    session.play("b2")
    wait_until(lambda: session.view().turn == "you")
    moves = session.view().moves
    session.restart()
    session.restart()
    wait_until(lambda: session.view().turn == "you")
    assert "b2" not in session.view().moves
    session.undo()
    assert session.view().message == "There is no move to take back."
    session.redo()
    assert session.view().moves == moves
    session.restart()
    session.close()  # the new game has no moves, so the old one is saved
    assert saves.read().moves == moves


def test_without_humans_undo_pauses() -> None:
    session = Session("tictactoe", "random:seed=1", "random:seed=2")
    wait_until(lambda: session.view().outcome is not None)
    plies = session.view().num_plies
    session.resign()
    assert session.view().message == "There is no human player to resign."
    session.undo()
    assert session.view().num_plies == plies - 1
    assert session.view().paused
    session.resume()
    wait_until(lambda: session.view().outcome is not None)


def test_resigning_and_taking_it_back(slow: Slow) -> None:
    session = Session("tictactoe", second="slow")
    session.play("b2")
    session.resign()  # while the opponent thinks
    view = session.view()
    assert (view.verdict, view.thinking) == ("you lose: you resigned", False)
    session.resign()
    assert "the game is over" in session.view().message
    session.undo()
    assert session.view().outcome is None
    assert session.view().moves == ("b2",)


def test_playing_at_an_earlier_ply_branches_off() -> None:
    session = Session("tictactoe", "human", "human", moves=["b2", "a1", "c1", "b1"])
    session.show_ply(2)
    view = session.view()
    assert view.position.moves == ["b2", "a1"]
    assert (view.ply, view.num_plies, view.legal, view.turn) == (2, 4, [], "you")
    session.play("a1")
    assert "the cell is taken" in session.view().message
    assert session.view().num_plies == 4
    session.show_ply(-3)
    assert session.view().ply == 0
    session.show_ply(99)
    assert session.view().ply == 4
    session.show_ply(2)
    session.play("c3")
    assert session.view().moves == ("b2", "a1", "c3")
    assert session.view().ply == 3


def test_no_branching_at_the_turn_of_a_player(slow: Slow) -> None:
    session = Session("tictactoe", second="slow", moves=["b2", "a1"])
    session.show_ply(1)
    session.play("c3")
    assert session.view().message == "After move 1 it is slow's turn."
    assert session.view().num_plies == 2


def test_showing_an_earlier_ply_does_not_stop_the_game(slow: Slow) -> None:
    session = Session("tictactoe", second="slow", moves=["b2"])
    session.show_ply(0)
    slow.ready.set()
    wait_until(lambda: session.view().num_plies == 2)
    assert session.view().ply == 0


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"game": "chess"}, "Unknown game 'chess'"),
        ({"game": "mnk"}, "write the sizes as"),
        ({"game": "no/such.py"}, "there is no such file"),
        ({"second": "nobody"}, "Unknown player 'nobody'"),
        ({"second": "level:99"}, "it must be 1 to 10"),
        ({"first": "\x00"}, "Unknown player"),
        ({"game": "connect4", "second": "nobody"}, "Unknown player"),
        ({"game": "gomoku", "second": "dqn"}, "gomoku"),
    ],
)
def test_a_bad_game_or_player_changes_nothing(changes: dict[str, str], part: str) -> None:
    session = Session("tictactoe", "human", "human", moves=["b2"])
    session.set_up(**changes)
    view = session.view()
    assert part in view.message
    assert (view.game.spec, view.players, view.moves) == ("tictactoe", ("human", "human"), ("b2",))


def test_seats_swap() -> None:
    session = Session("tictactoe", second="random:seed=1")
    session.swap()
    assert session.players == ("random:seed=1", "human")
    wait_until(lambda: session.view().num_plies == 1)
    assert session.view().turn == "you"


def test_live_analysis_follows_the_screen() -> None:
    session = Session("tictactoe", "human", "human", moves=["a1", "a2", "b1", "b2"])
    assert session.view().analysis is None
    session.set_analysis(on=True)
    wait_until(lambda: (analysis := session.view().analysis) and analysis.exact)
    assert session.view().analysis.move == "c1"  # type: ignore[union-attr]
    session.show_ply(0)
    wait_until(lambda: (analysis := session.view().analysis) and len(analysis.candidates) == 9)
    session.show_ply(4)
    session.play("c1")
    assert session.view().analysis is None  # the game is over
    session.undo()
    wait_until(lambda: session.view().analysis)
    session.set_analysis(on=False)
    assert session.view().analysis is None
    session.close()


def test_an_unfinished_game_is_saved_and_a_finished_one_deleted(home: Path) -> None:
    session = Session("tictactoe", "human", "human")
    session.play("b2")
    session.set_up(game="connect4")
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


def test_a_game_without_moves_is_not_saved(home: Path) -> None:
    Session("tictactoe", "human", "human").close()
    assert not list(home.rglob("*.json"))


def test_a_game_that_cannot_be_saved_is_reported(home: Path) -> None:
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
        session.set_up(game=spec)
        assert session.view().message == ""
        session.play(session.view().legal[0])
        wait_until(lambda: session.view().turn == "you")
        assert session.view().num_plies == 2
    session.set_up(game="tictactoe")
    for player in list_players():
        session.restart()
        session.set_up(second=player.name)
        if "No model is shipped" in session.view().message:
            continue
        assert session.view().message == ""
        session.play("b2")
        if player.factory:
            wait_until(lambda: session.view().turn == "you")
            assert session.view().num_plies == 2, session.view().message
    session.close()


def test_concurrent_requests_keep_the_match_consistent(slow: Slow) -> None:
    session = Session("tictactoe", second="slow")
    slow.ready.set()
    failures: list[BaseException] = []

    def request_at_random(seed: int) -> None:
        rng = random.Random(seed)
        requests: list[Callable[[], None]] = [
            lambda: session.play(rng.choice(["a1", "b2", "c3", "z9", "c1"])),
            session.undo,
            session.redo,
            session.stop,
            session.swap,
            session.resume,
            lambda: session.show_ply(rng.randrange(-1, 9)),
            lambda: session.set_up(game=rng.choice(["tictactoe", "connect4", "chess"])),
            lambda: session.set_up(second=rng.choice(["slow", "human", "random", "nobody"])),
            lambda: session.set_analysis(on=rng.random() < 0.2),
        ]
        try:
            for _ in range(150):
                rng.choice(requests)()
                view = session.view()
                assert view.game.position(moves=view.moves).moves == list(view.moves)
                assert view.position.moves == list(view.moves[: view.ply])
                assert len(view.move_seconds) == view.num_plies
        except BaseException as error:  # noqa: BLE001 - reported below, in the test's thread
            failures.append(error)

    threads = [threading.Thread(target=request_at_random, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    session.close()
    assert not failures


def test_a_player_moves_again_as_often_as_the_rules_say(slow: Slow) -> None:
    """O has a turn of two moves; undo takes all of them back, to the human's last choice."""
    slow.ready.set()  # it plays the last legal move at once
    moves = ["a1b1", "a1a2", "b1c1", "b1b2"]
    session = Session(BOXES, "human", "slow", moves=moves)
    assert session.view().turn == "you"
    session.play("b2c2")
    wait_until(lambda: session.view().turn == "you")
    view = session.view()
    assert view.movers[:5] == (0, 1, 0, 1, 0)
    assert set(view.movers[5:]) == {1}
    session.undo()
    assert session.view().moves == tuple(moves)
    session.close()


def test_the_view_says_who_played_each_move() -> None:
    session = Session(BOXES, "human", "human", moves=BOXES_WIN)
    view = session.view()
    assert view.movers == tuple(BOXES_MOVERS)
    assert (view.verdict, view.to_move) == ("O wins, 3 to 1", 0)
    session.show_ply(4)
    assert (session.view().position.player, session.view().to_move) == (1, 0)
    session.close()
