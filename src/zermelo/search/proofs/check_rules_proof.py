"""Check a proof for a game in a Python file: python check_rules_proof.py PROOF GAME.py.

Only the rules in the game's file are trusted, and what that file imports. This checker itself uses
nothing but Python's standard library. docs/proofs.md describes the format.
"""

import hashlib
import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

MAX_BYTES = 20_000_000
HEADER = re.compile(
    r"zermelo rules proof 1\ngame (.{1,200})\nsource ([0-9a-f]{64})\nclaim (first|second|draw)\n"
)
RULES = ("initial", "player", "actions", "play", "result")


def load_rules(path: Path) -> Any:
    """Return the module of a file with the five rules, or an object of its only class with them."""
    spec = importlib.util.spec_from_file_location("checked_game", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    if all(hasattr(module, name) for name in RULES):
        return module
    own = [x for x in vars(module).values() if getattr(x, "__module__", "") == spec.name]
    classes = [x for x in own if isinstance(x, type) and all(hasattr(x, name) for name in RULES)]
    if len(classes) != 1:
        msg = f"{path} must define the functions {', '.join(RULES)}, or one class with them"
        raise ValueError(msg)
    return classes[0]()


def find_move(rules: Any, state: Any, text: str) -> int | None:
    """Return the legal action whose move is this text; None if there is none."""
    to_text = getattr(rules, "to_text", lambda _state, action: str(action))
    return next((a for a in rules.actions(state) if to_text(state, a) == text), None)


def find_flaw(rules: Any, owner: int, goal: int, strategy: dict[str, str], used: set[str]) -> str:
    """Return the flaw in a strategy that must win (goal 1) or not lose (goal 0), "" if none.

    This is a depth-first search. `path` holds the states between the start and the current state:
    a move back to one of them would let the game go on forever.
    """
    pending, path, finished = [(rules.initial(), False)], set(), set()
    while pending:
        state, is_done = pending.pop()
        if is_done:
            path.discard(state)
            finished.add(state)
            continue
        if state in path:
            return f"{state}: the game can come back to this position"
        if state in finished:
            continue
        path.add(state)
        pending.append((state, True))
        mover, (over, value) = rules.player(state), rules.result(state)
        if over and (value if mover == owner else -value) < goal:
            return f"{state}: the game is over, contrary to the claim"
        actions = [] if over else rules.actions(state)
        if not over and mover == owner:
            text = strategy.get(repr(state), "")
            action = find_move(rules, state, text)
            if action is None:
                return f"{state}: {text!r} is not a legal move" if text else f"{state}: no move"
            actions = [action]
            used.add(repr(state))
        pending += [(rules.play(state, action), False) for action in actions]
    return ""


def check_file(path: Path, game_path: Path) -> str:
    """Return the verdict on a proof file: a line that begins with `proven` or `not proven`."""
    is_small = path.is_file() and path.stat().st_size <= MAX_BYTES
    text = path.read_text(encoding="utf-8", errors="replace") if is_small else ""
    if not (header := HEADER.match(text)):
        return "not proven: the file must begin with a proof's header and be at most 20 MB"
    name, digest, claim = header.groups()
    if hashlib.sha256(game_path.read_bytes()).hexdigest() != digest:
        return f"not proven: the proof was made for another version of {game_path}"
    rules = load_rules(game_path)
    lines = [line.partition(" ") for line in text[header.end() :].splitlines()]
    strategy = {state: move for move, _, state in lines}
    flaw = "" if len(strategy) == len(lines) else "a position is listed twice"
    used: set[str] = set()
    for owner in {"first": [0], "second": [1], "draw": [0, 1]}[claim]:
        flaw = flaw or find_flaw(rules, owner, claim != "draw", strategy, used)
    unused = [f"{state[:80]}: listed, but never reached" for state in strategy if state not in used]
    if flaw or unused:
        return f"not proven: {flaw or unused[0]}"
    return f"proven: {name} (source {digest[:16]}), claim {claim}: {len(lines):,} positions"


if __name__ == "__main__":
    verdict = check_file(Path(sys.argv[-2]), Path(sys.argv[-1]))
    if verdict.startswith("not proven"):
        sys.exit(verdict)
    print(verdict)  # noqa: T201 - a script
