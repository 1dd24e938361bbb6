"""What loading a game's file refuses, in one line that names the rule or the author's line."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import zermelo as z
from support.paths import ROOT
from support.user_games import MATCHES

DOMINEERING = (ROOT / "examples" / "domineering.py").read_text()
DOTS = (ROOT / "examples" / "dots_and_boxes.py").read_text()
HEX = (ROOT / "examples" / "hex.py").read_text()
NIM = (ROOT / "examples" / "nim.py").read_text()
BREAKTHROUGH = (ROOT / "examples" / "breakthrough.py").read_text()
LAST_PICK = "        return pick(player == 0, vertical, horizontal)"


def load(tmp_path: Path, text: str) -> z.Game:
    path = tmp_path / "own.py"
    path.write_text(text)
    return z.game(str(path))


def refusal(tmp_path: Path, text: str) -> str:
    """The error of loading a file, which is one line."""
    with pytest.raises(z.BadSpec) as error:
        load(tmp_path, text)
    assert "\n" not in str(error.value)
    return str(error.value)


def line_number(text: str, part: str) -> int:
    """The line of a text that contains this part."""
    (number,) = [i for i, line in enumerate(text.splitlines(), 1) if part in line]
    return number


#: what an author writes, the line of the mistake, and the sentence about it
DO_NOT_COMPILE = {
    "a list": (
        LAST_PICK,
        "        masks = [vertical, horizontal]\n        return masks[int(player)]",
        "masks = [vertical",
        "legal does not compile: lists, sets, dicts and strings cannot be compiled",
    ),
    "a constant without a type": (
        "    one: Word = 1",
        "    one = 1",
        "first = self.one",
        "Domineering.one is read by a rule: annotate it as Word, int or bool",
    ),
    "an unknown attribute of a word": (
        "free >> self.size)",
        "free >> free.bit_length())",
        "free.bit_length",
        "legal does not compile: a word has no attribute 'bit_length'",
    ),
    "an attribute that is never read in Python": (
        "free = self.full ^",
        "free = self.ful ^ mine if player == 7 else self.full ^",
        "self.ful ^",
        "Domineering has no attribute ful",
    ),
    "a global dict": (
        "free >> self.size)",
        "free >> STEPS['down'])",
        "STEPS['down']",
        "Domineering.legal uses STEPS, which cannot be compiled: rules may use numbers, functions",
    ),
    "a type that no kernel has": (
        "    size: int = SIZE",
        "    size: float = SIZE",
        "size: float",
        "size is annotated float: it must be Word, int, bool or a tuple of these",
    ),
    "a constant of more than 64 bits": (
        "full: Word = (1 << SIZE * SIZE) - 1",
        "full: Word = (1 << 70) - 1",
        "1 << 70",
        "that is not a word of 64 bits",
    ),
}


@pytest.mark.parametrize("mistake", DO_NOT_COMPILE)
def test_rules_that_do_not_compile_are_refused_by_line(mistake: str, tmp_path: Path) -> None:
    before, after, part, sentence = DO_NOT_COMPILE[mistake]
    text = DOMINEERING.replace(before, after).replace("SIZE = 6", "SIZE = 6\nSTEPS = {'down': 6}")
    assert text.count(after) == 1
    message = refusal(tmp_path, text)
    assert f"own.py, line {line_number(text, part)}: " in message
    assert sentence in message
    assert "k_" not in message  # no generated file


def test_hooks_that_do_not_compile_are_refused_by_line(tmp_path: Path) -> None:
    text = HEX.replace("return 100 * (needed", "return sorted([needed])[0] + 100 * (needed")
    message = refusal(tmp_path, text)
    assert f"own.py, line {line_number(text, 'sorted(')}: evaluate does not compile" in message


def test_a_second_load_needs_no_compiler() -> None:
    """The result of the check is stored, so numba is not even imported."""
    code = f"import sys, zermelo as z; z.game({str(ROOT / 'examples' / 'nim.py')!r})"
    probe = f"{code}; print('numba' in sys.modules)"
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", probe], capture_output=True, text=True, check=True
        )
    assert done.stdout == "False\n"


#: files, each with the part of the error that names what is not supported
REFUSED = {
    "three players": (
        MATCHES.replace("1 - state[1]", "(state[1] + 1) % 3"),
        "player is '2': it must be 0 or 1; games of three or more players are not supported",
    ),
    "three players by number": (MATCHES + "\nnum_players = 3\n", "num_players is '3'"),
    "a chance node": (
        MATCHES.replace("return state[1]", "return -1 if state[0] == 20 else state[1]"),
        "chance nodes are not supported",
    ),
    "chance by name": (
        MATCHES + "\ndef chance_outcomes(state): return []\n",
        "own.py defines chance_outcomes, but games with chance cannot be solved here",
    ),
    "hidden information by name": (
        MATCHES + "\ndef information_state(state): return ''\n",
        "games with hidden information cannot be solved here",
    ),
    "an extra turn": (
        MATCHES.replace("1 - state[1]", "state[1]"),
        "the sides must take turns, unless the game sets is_alternating = False",
    ),
    "a score against the result": (
        DOTS.replace("popcount(state[1]) - popcount(state[2])", "popcount(state[2])").replace(
            "self.score(state)", "popcount(state[1]) - popcount(state[2])"
        ),
        "for the side to move, so the signs do not agree",
    ),
    "two moves with one text": (
        NIM.replace('{taken}"', '"'),
        "two legal actions share this move",
    ),
    "too few planes": (NIM.replace("num_planes = 1", "num_planes = 2"), "a tuple of 2 words"),
    "a plane that is too large": (
        NIM.replace("return len(self.heaps), self.width", "return 2, self.width"),
        "a plane must be an int of at most 14 bits, 2x7",
    ),
    "an estimate out of range": (
        MATCHES + "\ndef evaluate(state): return 100\n",
        "evaluate is '100': it must be a number from -1 to 1",
    ),
    "cells off the board": (
        BREAKTHROUGH.replace("return cell, cell +", "return cell, 40 + cell +"),
        "it must be a tuple of cells, from 0 to 35",
    ),
    "masks of the wrong size": (
        BREAKTHROUGH.replace("num_actions = 3 * 64", "num_actions = 4 * 64"),
        "with 256 actions it must be a tuple of 4 words",
    ),
    "layers that are none": (
        NIM.replace("num_planes = 1", "num_planes = 1\n    is_layered = True"),
        "so is_layered must be False",
    ),
    "a wrong symmetry": (
        HEX.replace('("identity", "half turn")', '("identity", "left-right")'),
        "symmetries is \"'left-right'\"",
    ),
    "a hidden method": (NIM.replace("full", "start"), "that is a method of every game"),
    "an endless game": (
        MATCHES.replace("state[0] - action - 1", "state[0]"),
        "did not end within 5,000 plies, but every game must end",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_the_contract_forbids_is_refused_by_name(what: str, tmp_path: Path) -> None:
    text, part = REFUSED[what]
    assert part in refusal(tmp_path, text)


def test_extra_turns_and_scores_load_when_they_are_declared(tmp_path: Path) -> None:
    text = MATCHES.replace("1 - state[1]", "state[1] if action == 2 else 1 - state[1]")
    text += "\nis_alternating = False\nhas_scores = True\ndef score(state): return -3\n"
    game = load(tmp_path, text)
    assert z.solve(game.position(moves="1")).exact
    assert re.search("own.py", game.spec)
