"""Tournaments with Python objects, which are played in this process."""

import random
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import zermelo as z
from support.user_script import Nim, Uniform, first_move, last_action
from zermelo.arena import report
from zermelo.store.runs import RunStore


def games_of(result: z.Result) -> list[tuple[str, str, str, str]]:
    """The games without times, which differ from run to run."""
    return [(game.first, game.second, game.moves, game.outcome) for game in result.games]


def test_objects_play_the_same_games_as_specs() -> None:
    settings = {"games": 12, "seed": 3}
    specs = z.tournament("connect4", ["random", "greedy", "lookahead:2"], **settings, processes=1)  # type: ignore[arg-type]
    players = ["random", z.player("greedy"), "lookahead:2"]
    objects = z.tournament(z.game("connect4"), players, **settings)  # type: ignore[arg-type]
    assert games_of(objects) == games_of(specs)
    assert objects.standings.ratings == specs.standings.ratings
    assert len({game.moves.split()[0] for game in objects.games}) > 1  # random openings


def test_the_same_seed_gives_the_same_games() -> None:
    def play(seed: int) -> list[tuple[str, str, str, str]]:
        return games_of(z.tournament("tictactoe", [Uniform(), first_move], games=6, seed=seed))

    assert play(1) == play(1) != play(2)


def illegal(position: z.Position) -> str:
    return "z9"


def taken(position: z.Position) -> int:
    return 0


def outside(position: z.Position) -> int:
    return 99


def nothing(position: z.Position) -> str:
    return None  # type: ignore[return-value]


def crashing(position: z.Position) -> str:
    raise ValueError(position.player)


def leaving(position: z.Position) -> str:
    raise SystemExit


REASONS = {
    "illegal": "illegal move 'z9'",
    "taken": "illegal move 'a1'",
    "outside": "illegal move 'action 99'",
    "nothing": "answered with NoneType instead of a move",
    "crashing": "crashed: ValueError: 0",
    "leaving": "crashed: SystemExit",
}


@pytest.mark.parametrize("player", [illegal, taken, outside, nothing, crashing, leaving])
def test_illegal_moves_and_exceptions_forfeit(player: object) -> None:
    name = player.__name__  # type: ignore[attr-defined]
    result = z.tournament("tictactoe", [last_action, player], games=2)  # type: ignore[list-item]
    reasons = {reason for (loser, reason) in result.standings.forfeits if loser == name}
    assert REASONS[name] in reasons
    assert all(
        game.outcome == ("first" if game.second == name else "second") for game in result.games
    )


def test_a_forfeit_reads_the_same_as_in_a_worker(tmp_path: Path) -> None:
    file = tmp_path / "crashing.py"
    file.write_text(
        "import zermelo as z\n"
        "class Crashing(z.Player):\n"
        "    def think(self, position, limit):\n"
        "        raise ValueError(position.player)\n"
    )
    worker = z.tournament("tictactoe", [str(file), "greedy"], games=2, processes=1)
    here = z.tournament("tictactoe", [crashing, "greedy"], games=2)
    assert [game.reason for game in here.games] == [game.reason for game in worker.games]


def test_a_late_move_forfeits() -> None:
    never = threading.Event()

    def slow(position: z.Position) -> str:
        never.wait(1.2)
        return position.legal[0]

    result = z.tournament("tictactoe", [slow, first_move], games=1, seconds=0.1)
    ((player, reason),) = result.standings.forfeits
    assert (player, reason) == ("slow", "exceeded its time limit of 0.1 s")


def test_repeated_games_of_functions_are_not_rated() -> None:
    result = z.tournament("tictactoe", [first_move, last_action], games=10)
    assert (result.standings.games, result.standings.repeated) == (10, 8)
    random_games = z.tournament("tictactoe", [first_move, Uniform()], games=10)
    assert random_games.standings.repeated == 0


def test_ctrl_c_keeps_the_games_so_far() -> None:
    rng = random.Random(0)

    def tired(position: z.Position) -> str:
        if rng.random() < 0.02:
            raise KeyboardInterrupt
        return position.legal[0]

    with pytest.raises(z.Interrupted) as stopped:
        z.tournament("tictactoe", [tired, last_action], games=200)
    assert not stopped.value.result.finished
    assert 0 < len(stopped.value.result.games) < 200


def test_games_of_objects_are_stored_and_reported(tmp_path: Path) -> None:
    path = tmp_path / "games.db"
    result = z.tournament(Nim(7), [first_move, "random"], games=4, db=path)
    with RunStore(path) as store:
        assert result.run is not None
        assert len(store.game_rows(result.run)) == 4
    assert "first_move" in report.to_html(result, "in Python", {})
    assert result.to_dict()["settings"]["players"] == ("first_move", "random")
    with pytest.raises(z.ZermeloError, match="resume needs players and a game that other"):
        z.tournament(Nim(7), [first_move, "random"], games=4, db=path, resume=True)
    with pytest.raises(z.ZermeloError, match="processes needs players and a game that other"):
        z.tournament(Nim(7), ["random", "random"], processes=2)


def test_two_functions_of_the_same_name_are_told_apart() -> None:
    names = z.tournament("tictactoe", [first_move, first_move], games=1).plan.names
    assert names == ("first_move", "first_move (2)")


def test_an_sprt_of_functions() -> None:
    result = z.tournament("tictactoe", [last_action, Uniform()], games=400, sprt=(0, 50))
    assert result.sprt is not None
    assert result.sprt["accepted"] == "H1"


class Counting(z.Player):
    """A player without a name, which counts its calls."""

    calls = 0

    def think(self, position: z.Position, limit: z.Limit) -> Iterator[z.Analysis]:
        self.calls += 1
        assert limit.seconds is not None
        yield z.Analysis(position.legal[-1])


def test_a_player_object_is_used_for_all_games() -> None:
    player = Counting()
    result = z.tournament("tictactoe", [player, first_move], games=4, seconds=1)
    assert player.name == "Counting"
    assert player.calls >= sum(len(game.moves.split()) // 2 for game in result.games)
    assert not result.standings.forfeits
