"""Reasons: verified facts about moves, each with a line of legal moves that demonstrates it.

Facts come from the rules (which moves win immediately) and from proven values. An estimate never
becomes a reason.

A threat is a move with which a side would win immediately if it were to move. KINDS documents
every kind of reason.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from zermelo.core.game import Game
from zermelo.core.phrases import count, count_moves
from zermelo.core.player import Reason
from zermelo.games.lines.rules import LineGame
from zermelo.search.engine import ForcedWin

KINDS = {
    "wins-now": "the move ends the game and wins it",
    "loses-now": "the move ends the game and loses it, such as three in a row in Squava",
    "draws-now": "the move ends the game in a draw",
    "wins": "proven: the move wins by force, in a number of moves or by a number of discs",
    "forced": "proven: the move wins by threats, perhaps fours only, in at most a number of moves",
    "only-move": "proven: every other move has a lower value, or there is no other legal move",
    "blocks": "the move stops an immediate win that the opponent has after some other move",
    "two-threats": "after the move its side threatens to win immediately on two cells or more",
    "threat": "after the move its side threatens to win immediately",
    "lets-win": "proven: after the move the opponent wins by force, perhaps with the given reply",
    "keeps-draw": "proven: the move draws, and some other move loses",
    "gives-away": "proven: the move only draws, and some other move wins",
    "loses-slower": "proven: every move loses, some other move faster, and none more slowly",
    "forces-pass": "after the move the opponent must pass",
}
_MANY_MOVES, _MAX_EXAMINED = 64, 32  # with more than 64 moves, only the best 32 are examined
_NUMBER_WORDS = {2: "two", 3: "three", 4: "four"}


@dataclass(frozen=True)
class EvaluatedMove:
    """The search result of one legal move, for the side that makes it."""

    action: int
    sign: int | None = None  #: 1, 0 or -1 when proven
    plies: int | None = None  #: plies to the end, including this move
    diff: int | None = None  #: in games with scores: the final score, such as a disc difference
    line: tuple[int, ...] = ()  #: best play, starting with this move
    forced_win: ForcedWin | None = None  #: the threats that prove the win or the loss


class Claim(NamedTuple):
    """A reason whose line has not yet been checked against the rules."""

    kind: str
    text: str
    line: tuple[int, ...]


class RuleFacts:
    """The facts about the moves of an unfinished state that follow from the rules alone."""

    def __init__(self, game: Game, state: Any) -> None:
        self.game, self.state = game, state
        self.opponent = game.symbols[1 - game.player(state)]
        self.children = {action: game.play(state, action) for action in game.actions(state)}
        self.results = {action: game.result(child) for action, child in self.children.items()}
        self.opponent_threats = self._threats(state)
        self.winning_replies: dict[int, list[int]] = {}  # by move examined so far
        self._lines: dict[tuple[int, ...], tuple[str, ...] | None] = {}  # by line checked so far
        self._claims = {
            action: [self._end_of_game(action)] for action in self.children if self.ends(action)
        }

    def ends(self, action: int) -> bool:
        """Return whether a move ends the game."""
        return bool(self.results[action][0])

    def replay(self, line: tuple[int, ...]) -> tuple[str, ...] | None:
        """Return the moves of a line from this state on; None if the rules do not allow them."""
        if line not in self._lines:
            is_legal = self.game.legal_line(self.state, line) == line
            self._lines[line] = self.game.line_to_text(self.state, line) if is_legal else None
        return self._lines[line]

    def keeps_turn(self, action: int) -> bool:
        """Return whether the same side moves again after an action."""
        return bool(self.game.turn_sign(self.state, self.children[action]) > 0)

    def move(self, action: int) -> str:
        """Return the text of an action of this state."""
        return self.game.to_text(self.state, action)

    def reply(self, action: int, reply: int) -> str:
        """Return the text of a reply to an action."""
        return self.game.to_text(self.children[action], reply)

    def examine(self, actions: Iterable[int]) -> None:
        """Find the threats that each of these actions blocks or makes; skip illegal actions."""
        for action in actions:
            if action in self.children and action not in self._claims:
                self.winning_replies[action] = self._find_winning_replies(action)
                self._claims[action] = [
                    *self._blocked_threats(action),
                    *self._own_threats(action),
                    *self._forced_pass(action),
                ]

    def claims(self, action: int) -> list[Claim]:
        """Return the claims that follow from the rules alone; empty for an unexamined move."""
        return self._claims.get(action, [])

    def _find_winning_replies(self, action: int) -> list[int]:
        """Return the replies with which the opponent wins; none if the same side moves again."""
        child = self.children[action]
        return [] if self.keeps_turn(action) else self._winning_actions(child)

    def _winning_actions(self, state: Any) -> list[int]:
        """Return the actions that win immediately."""
        near = _cells_near_own_stones(self.game, state)
        return [
            action
            for action in self.game.actions(state)
            if near >> action & 1 and self._wins(state, action)
        ]

    def _wins(self, state: Any, action: int) -> bool:
        child = self.game.play(state, action)
        is_over, value = self.game.result(child)
        return bool(is_over and value * self.game.turn_sign(state, child) > 0)

    def _threats(self, state: Any) -> list[int]:
        """Return the actions with which the side not to move would win immediately."""
        if not isinstance(self.game, LineGame):
            return []
        passed = self.game.null_move(state)
        return [] if self.game.result(passed)[0] else self._winning_actions(passed)

    def _end_of_game(self, action: int) -> Claim:
        value = self.results[action][1] * self.game.turn_sign(self.state, self.children[action])
        kind, text = {
            1: ("wins-now", "wins immediately"),
            0: ("draws-now", "ends the game in a draw"),
            -1: ("loses-now", self._describe_loss(action)),
        }[int(value)]
        return Claim(kind, text, (action,))

    def _describe_loss(self, action: int) -> str:
        if action in self.game.forbidden(self.state):
            return "is a forbidden point and loses immediately"
        length = getattr(self.game, "lose", 0)
        if not length:
            return "loses immediately"
        return f"makes {_NUMBER_WORDS.get(length, length)} in a row and loses"

    def _blocked_threats(self, action: int) -> list[Claim]:
        """Return a reason for each opposing threat that this move, but not every move, stops.

        The line of each reason begins with a move that does not stop the threat.
        """
        reasons = []
        for threat in self.opponent_threats:
            if threat in self.winning_replies[action]:
                continue
            for other, child in self.children.items():
                if other == action or self.ends(other) or threat not in self.game.actions(child):
                    continue
                if self._wins(child, threat):
                    cell = self._describe_cell(self.state, threat)
                    line = other, threat
                    reasons.append(Claim("blocks", f"blocks the threat at {cell}", line))
                    break
        return reasons

    def _own_threats(self, action: int) -> list[Claim]:
        """Return a reason that lists a move's threats, unless every reply stops all of them."""
        child = self.children[action]
        threats = self._threats(child)
        replies = self.game.actions(child) if threats else []
        for reply in sorted(replies, key=lambda reply: reply not in threats):
            after = self.game.play(child, reply)
            if self.game.result(after)[0]:
                continue
            legal = self.game.actions(after)
            winning = [t for t in threats if t in legal and self._wins(after, t)]
            if winning:
                line = action, reply, winning[0]
                cells = [self._describe_cell(child, threat) for threat in threats]
                if len(threats) == 1:
                    return [Claim("threat", f"threatens to win at {cells[0]}", line)]
                listed = f"{', '.join(cells[:-1])} and {cells[-1]}"
                number = _NUMBER_WORDS.get(len(threats), len(threats))
                return [Claim("two-threats", f"makes {number} threats, at {listed}", line)]
        return []

    def _describe_cell(self, state: Any, action: int) -> str:
        """Return the cell, or with gravity the column, of a threat by the side not to move."""
        assert isinstance(self.game, LineGame)
        if self.game.gravity:
            return f"column {self.game.to_text(state, action)}"
        passed = self.game.null_move(state)
        cells = self.game.move_cells(passed, action)
        return self.game.grid.text(cells[0]) if cells else self.game.to_text(state, action)

    def _forced_pass(self, action: int) -> list[Claim]:
        replies = self.game.actions(self.children[action])
        if [self.reply(action, reply) for reply in replies] == ["pass"]:
            line = action, replies[0]
            return [Claim("forces-pass", f"forces {self.opponent} to pass", line)]
        return []


def _cells_near_own_stones(game: Game, state: Any) -> int:
    """Return a mask that contains every cell where the side to move can complete a line."""
    if not isinstance(game, LineGame) or game.gravity or game.win < 2:
        return -1
    stones, near = state[0], game.swap
    for step in (1, game.cols - 1, game.cols, game.cols + 1):
        near |= stones << step | stones >> step  # cells that wrap around a border are harmless
    return int(near)


def find_reasons(facts: RuleFacts, moves: list[EvaluatedMove]) -> dict[int, tuple[Reason, ...]]:
    """Return the reasons for and against every move, most important first.

    `moves` must be sorted, best first. A reason is omitted if its line contains an illegal move.
    """
    examined = len(moves) if len(moves) <= _MANY_MOVES else _MAX_EXAMINED
    facts.examine([move.action for move in moves[:examined]] + facts.opponent_threats)
    return {
        move.action: tuple(
            Reason(claim.kind, claim.text, line)
            for claim in _move_claims(facts, move, moves)
            if (line := facts.replay(claim.line)) is not None
        )
        for move in moves
    }


def _move_claims(facts: RuleFacts, move: EvaluatedMove, moves: list[EvaluatedMove]) -> list[Claim]:
    by_rules = facts.claims(move.action)
    comparison = _compare_to_all(facts, move, moves)
    if facts.ends(move.action):
        return [*by_rules, *comparison]
    return [*_outcome(facts, move), *comparison, *by_rules]


def _outcome(facts: RuleFacts, move: EvaluatedMove) -> list[Claim]:
    """Return the reason for the outcome of a move if it is proven by search or by the rules."""
    line = move.line
    if move.sign == 1 and move.forced_win is not None:
        text = f"wins by force within {_describe_forced_win(facts.game, move.forced_win)}"
        return [Claim("forced", text, line)]
    if move.sign == 1 and len(line) > 1:
        return [Claim("wins", _describe_win(facts.game, move), line)]
    replies = facts.winning_replies.get(move.action)
    if replies:
        reply = facts.reply(move.action, replies[0])
        text = f"{facts.opponent} then wins immediately with {reply}"
        return [Claim("lets-win", text, (move.action, replies[0]))]
    if move.sign == -1 and len(line) > 1:
        text = f"{facts.opponent} then wins {_describe_defeat(facts.game, move)}"
        if facts.keeps_turn(move.action):
            return [Claim("lets-win", text, line)]
        return [Claim("lets-win", f"{text}, starting with {facts.reply(line[0], line[1])}", line)]
    return []


def _describe_win(game: Game, move: EvaluatedMove) -> str:
    if move.diff:
        return f"wins by {count(move.diff, game.score_unit)}"
    if move.plies is None:
        return "wins by force"
    return f"wins by force in {count_moves(move.plies)}"


def _describe_defeat(game: Game, move: EvaluatedMove) -> str:
    """Return a description of how the opponent wins after a move."""
    if move.diff:
        return f"by {count(-move.diff, game.score_unit)}"
    if move.forced_win is not None:
        return f"by force within {_describe_forced_win(game, move.forced_win)}"
    return "by force" if move.plies is None else f"by force in {count_moves(move.plies - 1)}"


def _describe_forced_win(game: Game, forced_win: ForcedWin) -> str:
    """Describe how many moves a win by threats takes at most, and whether fours alone suffice."""
    moves = count_moves(forced_win.plies)
    names = {4: "threes", 5: "fours", 6: "fives"}
    fours = names.get(getattr(game, "win", 0), "immediate threats")
    return f"{moves}, by {fours} only" if forced_win.only_fours else moves


def _compare_to_all(
    facts: RuleFacts, move: EvaluatedMove, moves: list[EvaluatedMove]
) -> list[Claim]:
    """Return at most one reason, which compares a proven move with all others."""
    line = move.line or (move.action,)
    others = [other for other in moves if other.action != move.action]
    if not others:
        return [Claim("only-move", "is the only legal move", line)]
    if move.sign is None:
        return []
    signs = [other.sign for other in others]
    if move.sign >= 0 and all(sign is not None and sign < move.sign for sign in signs):
        text = "is the only move that wins" if move.sign else "is the only move that does not lose"
        return [Claim("only-move", text, line)]
    return _compare_to_others(facts, move, others, line)


def _compare_to_others(
    facts: RuleFacts, move: EvaluatedMove, others: list[EvaluatedMove], line: tuple[int, ...]
) -> list[Claim]:
    """Return at most one reason, which compares a move with better or worse ones."""
    signs = [other.sign for other in others]
    if move.sign == 0 and 1 in signs:
        better = next(other for other in others if other.sign == 1)
        text = f"gives away the win: {facts.move(better.action)} wins"
        return [Claim("gives-away", text, better.line or (better.action,))]
    if move.sign == 0 and -1 in signs and not facts.ends(move.action):
        return [Claim("keeps-draw", "keeps the draw", line)]
    if move.sign == -1 and all(sign == -1 for sign in signs):
        return _compare_losses(move, others, line)
    return []


def _compare_losses(
    move: EvaluatedMove, others: list[EvaluatedMove], line: tuple[int, ...]
) -> list[Claim]:
    """Return a reason if this move loses as slowly, or by as little, as possible.

    All moves must lose. Return no reason if they lose equally.
    """
    own = move.plies if move.diff is None else move.diff
    numbers = [other.plies if move.diff is None else other.diff for other in others]
    known = [number for number in numbers if number is not None]
    if own is None or len(known) < len(numbers) or own < max(known) or own == min(known):
        return []
    if move.diff is None:
        texts = "loses more slowly than the others", "no other move holds out longer"
    else:
        texts = "loses by less than the others", "no other move loses by less"
    return [Claim("loses-slower", texts[own == max(known)], line)]
