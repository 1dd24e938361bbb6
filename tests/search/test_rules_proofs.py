"""Proofs for games in Python files are checked with the rules in the file, and flaws are found."""

import subprocess
import sys
from pathlib import Path

import pytest

import zermelo as z
from zermelo.search.proofs import check_rules_proof, proof

CHECKER = Path(check_rules_proof.__file__)
MATCHES = """
num_actions = 3
def initial(): return (9, 0)
def player(state): return state[1]
def actions(state): return [a for a in range(3) if a < state[0]]
def play(state, action): return (state[0] - action - 1, 1 - state[1])
def result(state): return state[0] == 0, -1 if state[0] == 0 else 0
def to_text(state, action): return f"take{action + 1}"
"""
# Take one or two; who takes two moves again; who is to move when nothing is left loses.
EXTRA_TURN = """
num_actions = 2
is_alternating = False
def initial(): return (HEAP, 0)
def player(state): return state[1]
def actions(state): return [a for a in range(2) if a < state[0]]
def play(state, action): return (state[0] - action - 1, state[1] if action else 1 - state[1])
def result(state): return state[0] == 0, -1 if state[0] == 0 else 0
"""
DRAWN = """
num_actions = 2
def initial(): return (3, 0)
def player(state): return state[1]
def actions(state): return [0, 1] if state[0] else []
def play(state, action): return (state[0] - 1, 1 - state[1])
def result(state): return state[0] == 0, 0
"""


def write_proof(folder: Path, source: str) -> tuple[Path, Path, str]:
    game_path, proof_path = folder / "rules.py", folder / "proof.txt"
    game_path.write_text(source)
    found = proof.prove(z.game(str(game_path)))
    found.write(proof_path)
    return proof_path, game_path, found.claim


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        (MATCHES, "first"),
        (MATCHES.replace("(9, 0)", "(8, 0)"), "second"),
        (EXTRA_TURN.replace("HEAP", "4"), "second"),
        (EXTRA_TURN.replace("HEAP", "3"), "first"),
        (DRAWN, "draw"),
    ],
)
def test_the_value_is_proven(tmp_path: Path, source: str, claim: str) -> None:
    proof_path, game_path, found = write_proof(tmp_path, source)
    value = z.solve(z.game(str(game_path)).start()).value
    assert found == claim == {"win": "first", "loss": "second", "draw": "draw"}[str(value)]
    verdict = check_rules_proof.check_file(proof_path, game_path)
    assert verdict.startswith(f"proven: rules.py (source {verdict[25:41]}), claim {claim}: ")


def test_the_checker_is_a_script_of_its_own(tmp_path: Path) -> None:
    proof_path, game_path, _ = write_proof(tmp_path, MATCHES)
    imports = [s for s in CHECKER.read_text().splitlines() if s.startswith(("import", "from"))]
    assert not [line for line in imports if "zermelo" in line]
    command = [sys.executable, "-I", str(CHECKER), str(proof_path), str(game_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split(":")[0]) == (0, "proven")
    proof_path.write_text(proof_path.read_text().replace("claim first", "claim second"))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.split(":")[0]) == (1, "", "not proven")


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("take1 (9, 0)", "take2 (9, 0)", "no move"),
        ("take1 (9, 0)", "take4 (9, 0)", "'take4' is not a legal move"),
        ("claim first", "claim draw", "no move"),
        ("take1 (9, 0)\n", "", "no move"),
        ("take1 (9, 0)\n", "take1 (9, 0)\ntake1 (9, 0)\n", "listed twice"),
        ("take1 (9, 0)\n", "take1 (9, 0)\ntake1 (8, 0)\n", "listed, but never reached"),
        ("zermelo rules proof 1", "zermelo rules proof 2", "must begin with a proof's header"),
    ],
)
def test_a_flaw_is_named(tmp_path: Path, before: str, after: str, reason: str) -> None:
    proof_path, game_path, _ = write_proof(tmp_path, MATCHES)
    text = proof_path.read_text()
    assert before in text
    proof_path.write_text(text.replace(before, after))
    verdict = check_rules_proof.check_file(proof_path, game_path)
    assert verdict.startswith("not proven: ")
    assert reason in verdict


def test_other_rules_and_endless_games_are_refused(tmp_path: Path) -> None:
    proof_path, game_path, _ = write_proof(tmp_path, MATCHES)
    game_path.write_text(MATCHES + "\n")
    assert "another version" in check_rules_proof.check_file(proof_path, game_path)

    class Endless:
        """Both sides may pass forever."""

        def initial(self) -> int:
            return 0

        def player(self, state: int) -> int:
            return state

        def actions(self, _state: int) -> list[int]:
            return [0]

        def play(self, state: int, _action: int) -> int:
            return 1 - state

        def result(self, _state: int) -> tuple[bool, int]:
            return False, 0

    flaw = check_rules_proof.find_flaw(Endless(), 0, 0, {"0": "0"}, set())
    assert "can come back to this position" in flaw


def test_states_must_be_written_in_one_way(tmp_path: Path) -> None:
    source = MATCHES.replace("return (9, 0)", "return (frozenset({9}), 0)").replace(
        "state[0]", "min(state[0])"
    )
    source = source.replace(
        "return (min(state[0]) - action - 1,", "return (frozenset({min(state[0]) - action - 1}),"
    )
    path = tmp_path / "sets.py"
    path.write_text(source)
    with pytest.raises(z.ZermeloError, match="it contains frozenset"):
        proof.prove(z.game(str(path)))
