"""Wrong types given to public functions: every one is refused in one clear sentence."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import zermelo as z
from support import user_script


class Unnamed(z.Player):
    def think(self, position: z.Position, limit: z.Limit) -> Iterator[z.Analysis]:  # noqa: ARG002
        yield z.Analysis(position.legal[0])


def no_position() -> str:
    return "a1"


def two_positions(position: z.Position, other: z.Position) -> str:
    return "a1"


START = z.game("tictactoe").start()
NO_GAMES = [5, None, ["tictactoe"], user_script.Nim, object(), START]
NO_PLAYERS = [5, None, ["random"], Unnamed, int, object(), no_position, two_positions]
NO_POSITIONS = [5, None, ["a1"], z.Position, z.game("tictactoe"), "tictactoe"]
NO_LIMITS = [5, "1", z.Limit, {"seconds": 1}]

TAKE_GAMES: dict[str, Callable[[Any], object]] = {
    "game": z.game,
    "count": z.count,
    "match": z.match,
    "puzzle": z.puzzle,
    "grade": lambda game: z.grade(game, "random"),
    "tournament": lambda game: z.tournament(game, ["random", "greedy"]),
}
TAKE_PLAYERS: dict[str, Callable[[Any], object]] = {
    "player": z.player,
    "grade": lambda player: z.grade("tictactoe", player),
    "tournament": lambda player: z.tournament("tictactoe", ["random", player]),
    "reply": lambda player: z.match("tictactoe").reply(player),
    "play_out": lambda player: z.match("tictactoe").play_out("random", player),
}
MAY_TAKE_PLAYERS: dict[str, Callable[[Any], object]] = {
    "train": lambda player: z.train("tictactoe-dqn", "never-created", opponent=player),
    "analyze": lambda player: z.analyze(START, player=player),
}
TAKE_POSITIONS: dict[str, Callable[[Any], object]] = {
    "solve": z.solve,
    "analyze": z.analyze,
    "review": z.review,
    "choose": z.player("random").choose,
    "grade": lambda position: z.grade("tictactoe", "random", positions=[position]),
}
TAKE_LIMITS: dict[str, Callable[[Any], object]] = {
    "solve": lambda limit: z.solve(START, limit=limit),
    "analyze": lambda limit: z.analyze(START, limit),
    "review": lambda limit: z.review([START], limit),
    "choose": lambda limit: z.player("random").choose(START, limit),
}


def wrong_calls() -> Iterator[Any]:
    groups = (
        (TAKE_GAMES, NO_GAMES, "a game is a spec|is a class: give a game"),
        (TAKE_PLAYERS, NO_PLAYERS, "a player is a spec|is a class: give a player|cannot play: "),
        (TAKE_POSITIONS, NO_POSITIONS, "a position is a zermelo.Position|a review takes"),
        (TAKE_LIMITS, NO_LIMITS, "a limit is a zermelo.Limit"),
        (
            MAY_TAKE_PLAYERS,
            [value for value in NO_PLAYERS if value is not None],
            "a player is a spec|is a class: give a player|cannot play: ",
        ),
    )
    for functions, values, pattern in groups:
        for name, function in functions.items():
            for number, value in enumerate(values):
                kind = next(iter(functions))
                yield pytest.param(function, value, pattern, id=f"{kind}-{name}-{number}")


@pytest.mark.parametrize(("function", "value", "pattern"), list(wrong_calls()))
def test_a_wrong_type_gets_one_clear_sentence(
    function: Callable[[Any], object], value: object, pattern: str
) -> None:
    with pytest.raises(z.BadSpec, match=pattern) as caught:
        function(value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: z.tournament("tictactoe", "random"), "players is 'random': it must be a list"),  # type: ignore[arg-type]
        (lambda: z.tournament("tictactoe", ["random"]), "at least two players"),
        (
            lambda: z.tournament("tictactoe", ["random", "greedy"], games="x"),  # type: ignore[arg-type]
            "games is 'x': it must be a whole number",
        ),
        (
            lambda: z.tournament("tictactoe", ["random", "greedy"], seconds="x"),  # type: ignore[arg-type]
            "seconds is 'x': it must be a number",
        ),
        (lambda: z.train(5), "a recipe is a name such as 'tictactoe-dqn'"),  # type: ignore[arg-type]
        (lambda: z.train("tictactoe-dqn", device="tpu"), "device is 'tpu': it must be cpu or cuda"),
        (lambda: z.train("tictactoe-alphazero", opponent="random"), "learns no best response"),
        (lambda: z.Limit(seconds="x"), "seconds is 'x': it must be a number"),  # type: ignore[arg-type]
        (lambda: z.match("tictactoe", 5), "moves must be a string"),  # type: ignore[arg-type]
        (lambda: START.game.position(5), "a board is a text or a sequence"),  # type: ignore[arg-type]
        (lambda: z.count("tictactoe", max_ply="x"), "max_ply is 'x'"),  # type: ignore[arg-type]
        (lambda: z.puzzle("connect4", "3"), "plies is '3'"),  # type: ignore[arg-type]
        (lambda: z.player(lambda _: None).choose(START), "<lambda> returned None: a function"),  # type: ignore[arg-type,return-value]
        (lambda: z.grade("tictactoe", lambda _: None), "<lambda> returned None: a function"),  # type: ignore[arg-type,return-value]
        (lambda: z.match("tictactoe").reply(lambda _: 9), "illegal move '9'"),
        (lambda: z.player("human"), "human needs a screen"),
    ],
)
def test_wrong_arguments_are_explained(call: Callable[[], object], message: str) -> None:
    with pytest.raises(z.ZermeloError) as caught:
        call()
    assert message in str(caught.value)
    assert "--" not in str(caught.value)
