"""Reasons: facts about moves, each verified here, with a line of legal moves that shows it.

Two sources: the rules, asked directly (what wins at once, where, and what would), and proven
values. Nothing is said that was not checked; of an estimate nothing is said at all.

A threat is a move that would win at once if it were its side's turn. KINDS documents every kind.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from zermelo.core.game import Game
from zermelo.core.player import Reason
from zermelo.games.lines.rules import LineGame
from zermelo.search.engine import ForcedWin

KINDS = {
    "wins-now": "the move ends the game and wins it",
    "loses-now": "the move ends the game and loses it: three in a row in Squava, a forbidden point",
    "draws-now": "the move ends the game in a draw",
    "wins": "proven: the move wins by force, in so many plies or by so many discs",
    "forced": "proven: the move wins by threats within so many plies, perhaps by fours only",
    "only-move": "proven: every other move is worth less (win, draw or loss), or none is legal",
    "blocks": "after another move the opponent wins at once there; after this one not",
    "two-threats": "after the move its side threatens to win at once in two places or more",
    "threat": "after the move its side threatens to win at once",
    "lets-win": "proven: the opponent wins by force after it, beginning with that move",
    "keeps-draw": "proven: the move draws, and another one loses",
    "gives-away": "proven: another move wins, this one only draws",
    "loses-slower": "proven: every move loses, another one sooner",
    "forces-pass": "after the move the opponent must pass",
}
_MANY, _MAX_FACTS = 64, 32  # with more moves than that, the consequences of so many are looked at


@dataclass(frozen=True)
class Judged:
    """What is known of one legal move, for the side that makes it."""

    action: int
    sign: int | None = None  #: 1, 0, -1 when proven
    plies: int | None = None  #: to the end, counted from before the move
    diff: int | None = None
    line: tuple[int, ...] = ()  #: best play, this move first
    forced: ForcedWin | None = None  #: how threats prove the win or the loss


@dataclass
class Facts:
    """What the rules say about the moves of a state that is not over; no search."""

    game: Game
    state: Any
    wins: dict[int, list[int]] = field(default_factory=dict)  # threats after each move
    replies: dict[int, list[int]] = field(default_factory=dict)  # what wins at once against it

    def __post_init__(self) -> None:
        game, state = self.game, self.state
        self.actions = game.actions(state)
        self.sides = game.symbols[game.player(state)], game.symbols[1 - game.player(state)]
        self.children = {action: game.play(state, action) for action in self.actions}
        self.ends = {a: game.result(child) for a, child in self.children.items()}
        self.threatened = self._threats(state)

    def look_at(self, actions: Iterable[int]) -> None:
        """Threats and replies of these moves."""
        for action in actions:
            if action not in self.wins and action in self.ends and not self.ends[action][0]:
                child = self.children[action]
                self.wins[action] = self._threats(child)
                self.replies[action] = self._winning(child)

    def _winning(self, state: Any) -> list[int]:
        """The actions that win at once."""
        found = []
        near = _near(self.game, state)
        for action in self.game.actions(state):
            if not near >> action & 1:
                continue
            over, value = self.game.result(self.game.play(state, action))
            if over and value < 0:
                found.append(action)
        return found

    def _threats(self, state: Any) -> list[int]:
        """What the other side would win with at once, if it moved now."""
        if not isinstance(self.game, LineGame):
            return []
        handed = self.game.handed_over(state)
        return [] if self.game.result(handed)[0] else self._winning(handed)

    def of(self, action: int) -> list[Reason]:
        """The reasons that the rules alone give for a move."""
        over, value = self.ends[action]
        text = self.game.to_text
        if over:
            kind, words = {
                -1: ("wins-now", "wins at once"),
                0: ("draws-now", "ends the game in a draw"),
                1: ("loses-now", self._self_made_loss(action)),
            }[int(value)]
            return [Reason(kind, words, (text(action),))]
        if action not in self.wins:
            return []
        return [*self._blocks(action), *self._makes(action), *self._passes(action)]

    def _self_made_loss(self, action: int) -> str:
        if action in self.game.forbidden(self.state):
            return "is a forbidden point and loses at once"
        lose = getattr(self.game, "lose", 0)
        names = {2: "two", 3: "three", 4: "four"}
        return f"makes {names.get(lose, lose)} and loses" if lose else "loses at once"

    def _blocks(self, action: int) -> list[Reason]:
        """Threats that stand after another move, and do not after this one."""
        reasons = []
        for threat in self.threatened:
            if threat in self.replies[action]:
                continue
            for other, child in self.children.items():
                if other == action or self.ends[other][0]:
                    continue
                if threat in self.game.actions(child):
                    over, value = self.game.result(self.game.play(child, threat))
                    if over and value < 0:
                        cell = self._place(self.game.handed_over(self.state), threat)  # type: ignore[attr-defined]
                        line = self.game.to_text(other), self.game.to_text(threat)
                        reasons.append(Reason("blocks", f"blocks the threat at {cell}", line))
                        break
        return reasons

    def _makes(self, action: int) -> list[Reason]:
        """Own threats after the move, with a reply that does not stop one of them."""
        threats = self.wins[action]
        child = self.children[action]
        for reply in self._stubborn(child, threats):
            after = self.game.play(child, reply)
            if self.game.result(after)[0]:
                continue
            winning = [t for t in threats if t in self.game.actions(after) and self._ends(after, t)]
            if winning:
                line = tuple(map(self.game.to_text, (action, reply, winning[0])))
                handed = self.game.handed_over(child)  # type: ignore[attr-defined]
                cells = [self._place(handed, threat) for threat in threats]
                if len(threats) == 1:
                    return [Reason("threat", f"threatens to win at {cells[0]}", line)]
                listed = f"{', '.join(cells[:-1])} and {cells[-1]}"
                number = "two threats" if len(threats) == 2 else f"{len(threats)} threats"
                return [Reason("two-threats", f"makes {number}, at {listed}", line)]
        return []

    def _stubborn(self, child: Any, threats: list[int]) -> list[int]:
        """Replies, those that meet a threat first."""
        replies = self.game.actions(child) if threats else []
        return sorted(replies, key=lambda reply: reply not in threats)

    def _ends(self, state: Any, action: int) -> bool:
        over, value = self.game.result(self.game.play(state, action))
        return bool(over and value < 0)

    def _place(self, state: Any, action: int) -> str:
        """The cell that an action fills, where that is how moves are told; else the move."""
        if self.game.gravity:
            return f"column {self.game.to_text(action)}"
        cell = self.game.last_cell(self.game.play(state, action), action)
        grid = self.game.grid
        return self.game.to_text(action) if cell is None or grid is None else grid.text(cell)

    def _passes(self, action: int) -> list[Reason]:
        replies = [self.game.to_text(reply) for reply in self.game.actions(self.children[action])]
        if replies == ["pass"]:
            line = (self.game.to_text(action), "pass")
            return [Reason("forces-pass", f"{self.sides[1]} must pass", line)]
        return []


def _near(game: Game, state: Any) -> int:
    """Cells beside a stone of the side to move, where alone a line can be completed; as a mask."""
    if not isinstance(game, LineGame) or game.gravity or game.win < 2:
        return -1
    stones, near = state[0], game.swap
    for step in (1, game.cols - 1, game.cols, game.cols + 1):
        near |= stones << step | stones >> step  # what wraps around a border only adds cells
    return int(near)


def explain(facts: Facts, judged: list[Judged]) -> dict[int, tuple[Reason, ...]]:
    """The reasons for and against every move, the weightiest first; `judged` is best first."""
    most = len(judged) if len(judged) <= _MANY else _MAX_FACTS
    facts.look_at([j.action for j in judged[:most]] + facts.threatened)
    return {j.action: tuple(_reasons(facts, j, judged)) for j in judged}


def _reasons(facts: Facts, move: Judged, judged: list[Judged]) -> list[Reason]:
    by_rules = facts.of(move.action)
    ended = bool(facts.ends[move.action][0])
    reasons = []
    if not ended:
        reasons += _outcome(facts, move)
    reasons += _rank(facts, move, judged)
    return [*by_rules, *reasons] if ended else [*reasons, *by_rules]


def _outcome(facts: Facts, move: Judged) -> list[Reason]:
    """What the move leads to, if that is proven; at once, if the rules show it."""
    text = facts.game.to_text
    line = tuple(map(text, move.line))
    other = facts.sides[1]
    by_threats = "" if move.forced is None else _by_threats(facts.game, move.forced)
    if move.sign == 1 and by_threats:
        return [Reason("forced", f"wins by force within {by_threats}", line)]
    if move.sign == 1 and len(line) > 1:
        how = f"wins by {move.diff}" if move.diff else f"wins by force in {move.plies} plies"
        if move.diff is None and move.plies is None:
            how = "wins by force"
        return [Reason("wins", how, line)]
    at_once = facts.replies.get(move.action)
    if at_once:
        answer = text(at_once[0])
        words = f"lets {other} win at once with {answer}"
        return [Reason("lets-win", words, (text(move.action), answer))]
    if move.sign == -1 and len(line) > 1:
        if move.diff:
            words = f"lets {other} win by {-move.diff}"
        elif by_threats:
            words = f"lets {other} win by force within {by_threats},"
        elif move.plies is None:
            words = f"lets {other} win by force"
        else:
            words = f"lets {other} win in {move.plies - 1} plies"
        return [Reason("lets-win", f"{words} with {line[1]}", line)]
    return []


def _by_threats(game: Game, forced: ForcedWin) -> str:
    """How long it takes at most, and by what kind of moves."""
    names = {4: "threes", 5: "fours", 6: "fives"}
    fours = names.get(getattr(game, "win", 0), "threats to win at once")
    return f"{forced.plies} plies, {fours} only" if forced.only_fours else f"{forced.plies} plies"


def _rank(facts: Facts, move: Judged, judged: list[Judged]) -> list[Reason]:
    """How the move compares with the others: said only where all that it needs is proven."""
    text = facts.game.to_text
    line = tuple(map(text, move.line)) or (text(move.action),)
    others = [j for j in judged if j.action != move.action]
    if not others:
        return [Reason("only-move", "is the only legal move", line)]
    if move.sign is None:
        return []
    signs = [j.sign for j in others]
    if move.sign >= 0 and all(sign is not None and sign < move.sign for sign in signs):
        words = "is the only move that wins" if move.sign else "is the only move that does not lose"
        return [Reason("only-move", words, line)]
    return _compare(facts, move, others, line)


def _compare(
    facts: Facts, move: Judged, others: list[Judged], line: tuple[str, ...]
) -> list[Reason]:
    """Beside moves that are worth more or less."""
    text = facts.game.to_text
    signs = [j.sign for j in others]
    if move.sign == 0 and 1 in signs:
        best = next(j for j in others if j.sign == 1)
        better = tuple(map(text, best.line)) or (text(best.action),)
        return [Reason("gives-away", f"gives away the win: {better[0]} wins", better)]
    if move.sign == 0 and -1 in signs and not facts.ends[move.action][0]:
        return [Reason("keeps-draw", "keeps the draw", line)]
    if move.sign == -1 and all(sign == -1 for sign in signs):
        return _slower(move, others, line)
    return []


def _slower(move: Judged, others: list[Judged], line: tuple[str, ...]) -> list[Reason]:
    """Every move loses: this one as late, or as closely, as any, and later than some."""
    own = move.plies if move.diff is None else move.diff
    theirs = [j.plies if move.diff is None else j.diff for j in others]
    known = [number for number in theirs if number is not None]
    if own is None or len(known) < len(theirs) or own < max(known) or own == min(known):
        return []
    if move.diff is None:
        words = "loses slower than the others", "no other move holds out longer"
    else:
        words = "loses by less than the others", "no other move loses by less"
    return [Reason("loses-slower", words[own == max(known)], line)]
