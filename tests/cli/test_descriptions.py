"""Commands that describe things: `rules`, `recipes`, `games NAME`, `players NAME`."""

from pathlib import Path

import pytest

from support.commands import answer, command
from support.paths import ROOT
from zermelo.games import registry
from zermelo.learn.config import recipes


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("tictactoe", ["3 rows and 3 columns", "Three in a row win", "full", "a draw"]),
        ("connect4", ["6 rows and 7 columns", "falls to the lowest empty cell", "columns 1 to 7"]),
        ("squava:pie=true", ["Three in a row lose", "Pie rule", "swap"]),
        ("gomoku:overline=exact", ["Exactly five in a row win", "Longer rows do not count"]),
        ("gomoku:size=9,renju=true", ["forbidden to X", "a double four and a double three"]),
        ("line:rows=1,cols=5,win=3,lose=1", ["1 row and 5 columns", "A single stone loses"]),
        ("reversi:6", ["6 rows and 6 columns", "enclose", "must pass", "more discs wins"]),
    ],
)
def test_rules_follow_from_the_parameters(spec: str, parts: list[str]) -> None:
    code, out, _ = command("rules", spec)
    assert code == 0
    assert [part for part in parts if part not in out] == []
    assert str(registry.game(spec).start()) in out


def test_rules_say_nothing_that_the_game_does_not_have() -> None:
    _, out, _ = command("rules", "tictactoe")
    assert not any(word in out for word in ("lose", "Pie", "forbidden", "falls", "Exactly"))


def test_rules_of_a_users_game(tmp_path: Path) -> None:
    fields = answer("rules", str(ROOT / "examples" / "domineering.py"))
    assert isinstance(fields, dict)
    assert set(fields) == {"game", "rules", "move_forms", "start"}
    assert fields["rules"][0].startswith("Domineering: two players place dominoes")
    functions = '''"""Take one or two of seven; whoever takes the last one wins."""
def initial(): return (7, 0)
def player(state): return state[1]
def actions(state): return [n for n in (0, 1) if n < state[0]]
def play(state, action): return (state[0] - action - 1, 1 - state[1])
def result(state): return state[0] == 0, -(state[0] == 0)
num_actions = 2
'''
    (tmp_path / "nim.py").write_text(functions)
    assert "Take one or two of seven" in command("rules", str(tmp_path / "nim.py"))[1]
    undocumented = functions.partition("\n")[2]
    (tmp_path / "none.py").write_text(undocumented)
    assert "has not described the rules" in command("rules", str(tmp_path / "none.py"))[1]


def test_a_users_subclass_is_described_by_its_author(tmp_path: Path) -> None:
    path = tmp_path / "other.py"
    path.write_text('''"""Like tic-tac-toe, but three in a row lose."""
from zermelo.games.lines.small import WordLineGame
class Misere(WordLineGame):
    def __init__(self):
        super().__init__(3, 3, 3)
    def result(self, state):
        mine, theirs, _ = state
        lost = self.winning_lines(theirs) != 0
        return lost | ((mine | theirs) == self.full), 1 * lost
''')
    out = command("rules", str(path))[1]
    assert "three in a row lose" in out
    assert "Three in a row win" not in out


def test_recipes() -> None:
    entries = answer("recipes")
    assert isinstance(entries, list)
    assert [entry["name"] for entry in entries] == recipes.names()
    by_name = {entry["name"]: entry for entry in entries}
    assert by_name["squava-hybrid"]["method"] == "hybrid"
    assert by_name["tictactoe-dqn"]["updates"] == recipes.load("tictactoe-dqn").learning.updates
    assert all(entry["game"] and entry["summary"] for entry in entries)
    assert all(name in command("recipes")[1] for name in by_name)


def test_the_text_of_a_recipe_is_a_recipe(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(command("recipes", "tictactoe-dqn")[1])
    assert recipes.load(str(path)).learning == recipes.load("tictactoe-dqn").learning
    assert command("recipes", str(path))[1] == path.read_text()
    fields = answer("recipes", "tictactoe-dqn")
    assert isinstance(fields, dict)
    assert fields["game"] == "tictactoe"
    code, _, err = command("recipes", "tictactoe-dqm")
    assert code == 2
    assert "one of connect4-alphazero, " in err


def test_every_parameter_of_every_player_and_game_is_explained() -> None:
    for kind in ("players", "games"):
        entries = answer(kind)
        assert isinstance(entries, list)
        for entry in entries:
            assert all(p["meaning"] for p in entry["parameter_list"]), entry["name"]
            assert list(entry["parameters"]) == [p["name"] for p in entry["parameter_list"]]
            code, out, _ = command(kind, entry["name"])
            assert code == 0
            assert all(p["name"] in out and p["meaning"] in out for p in entry["parameter_list"])


def test_unknown_names_and_parameters_are_answered_with_the_right_ones() -> None:
    for arguments, part in (
        (["players", "mtcs"], "did you mean mcts?"),
        (["games", "conect4"], "did you mean connect4?"),
        (["choose", "tictactoe", "level:3,4"], "level takes level=…, seed=…"),
        (["choose", "tictactoe", "human:3"], "human takes no parameters"),
        (["choose", "tictactoe", "level:levle=3"], "choose from level, seed"),
    ):
        code, _, err = command(*arguments)
        assert (code, part in err) == (2, True), err
