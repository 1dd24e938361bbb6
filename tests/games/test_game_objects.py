"""Games defined as classes in the same process, without a file."""

from typing import Any

import pytest

import zermelo as z
from support.user_script import Nim, first_move, last_action
from zermelo.core.bitboard import pick, word
from zermelo.games import registry


class Row(z.WordGame):
    """Two in a row on five cells wins; compiled."""

    num_actions = 5
    full: z.Word = 0b11111

    def initial(self) -> tuple[z.Word, ...]:
        return (0, 0, 0)

    def legal(self, state: Any) -> Any:
        return self.full & ~(state[0] | state[1])

    def play(self, state: Any, action: Any) -> Any:
        return state[1], state[0] | (word(1) << word(action)), state[2] ^ word(1)

    def result(self, state: Any) -> Any:
        line = state[1] & (state[1] >> word(1))
        return (line != 0) | ((state[0] | state[1]) == self.full), pick(line != 0, -1, 0)


def test_a_game_without_a_spec_is_named_after_its_class_and_arguments() -> None:
    class Renamed(Nim):
        spec = "nim"

    class Hidden(Nim):
        def __init__(self, size: int) -> None:
            self.heap = 2 * size

    assert (Nim(7).spec, Row().spec, Renamed(7).spec) == ("Nim:heap=7", "Row", "nim")
    assert Nim(7) == Nim(7) != Nim(8)
    # An argument that is no attribute still makes two games different.
    assert Hidden(1) == Hidden(1) != Hidden(2)


def test_errors_name_the_game() -> None:
    with pytest.raises(z.IllegalMove, match="illegal move '7' in Nim:heap=3"):
        Nim(3).start().play("7")


def test_objects_and_specs_are_games() -> None:
    squava = z.game("squava")
    assert z.game(squava) is squava
    assert z.game(squava.start().game) is squava
    nim = Nim(5)
    assert z.game(nim) is nim
    assert registry.is_loadable(squava)
    assert not registry.is_loadable(nim)


def test_a_game_is_tested_once_at_the_door(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    monkeypatch.setattr("zermelo.games.user_games.check_game", lambda game: calls.append(game.spec))

    class Once(Nim):
        pass

    z.game(Once(3))
    z.count(Once(3))
    z.match(Once(4))
    z.game("tictactoe")
    assert calls == ["Once:heap=3", "Once:heap=4"]


@pytest.mark.parametrize("call", [z.game, z.count, z.match, lambda game: z.grade(game, "random")])
def test_rules_that_break_the_contract_are_refused(call: Any) -> None:
    class Endless(Nim):
        def result(self, state: tuple[int, int]) -> tuple[bool, int]:  # noqa: ARG002
            return False, 0

    class Crashing(Nim):
        def actions(self, state: tuple[int, int]) -> list[int]:
            return [1 // (state[0] - self.heap)]

    with pytest.raises(z.BadSpec, match="Endless:heap=3: this game's actions is"):
        call(Endless(3))
    with pytest.raises(z.BadSpec, match="ZeroDivisionError"):
        call(Crashing(3))


@pytest.mark.parametrize("game", [Nim(9), Row()], ids=["plain", "compiled"])
def test_a_game_of_this_process_works_everywhere(game: z.Game) -> None:
    start = game.start()
    assert z.solve(start, limit=z.Limit(seconds=10)).value == "win"
    assert z.analyze(start, z.Limit(seconds=5)).value == "win"
    assert z.count(game).states > 10
    assert z.match(game).play_out("perfect", first_move) is z.Outcome.FIRST
    grade = z.grade(game, "perfect")
    assert grade.unbeatable
    assert z.grade(game, last_action).total.mistakes > 0
    result = z.tournament(game, ["perfect", "random", first_move], games=4)
    assert result.standings.ranking()[0] == "perfect"
    assert result.finished
    assert len(z.review(z.match(game, start.legal[:1]))) == 2
