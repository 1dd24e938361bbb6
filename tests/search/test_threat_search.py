"""Threat search: every forced win holds against every defence, and published wins are found."""

import functools
import random
from typing import Any

import pytest

import zermelo as z
from support import truth
from support.forcing import Board, Cell, DefenceCheck, play_randomly
from zermelo.core.errors import ZermeloError
from zermelo.core.player import Limit
from zermelo.games.lines.large import BoardLineGame
from zermelo.games.lines.renju import RenjuGame
from zermelo.search import textbook
from zermelo.search.engine import ForcedWin
from zermelo.search.large.engine import BoardEngine
from zermelo.search.large.threat_kernel import search_threats
from zermelo.search.large.threat_search import MAX_FOURS, ThreatSearch
from zermelo.search.limits import SearchClock

NODES = 20_000
RULES = ("gomoku", "gomoku:overline=exact", "gomoku:renju=true", "mnk:9x12x4", "mnk:16x10x6")


@functools.cache
def threat_search(spec: str) -> ThreatSearch:
    return ThreatSearch(z.game(spec))


def empty_board(game: Any) -> Board:
    renju = isinstance(game, RenjuGame)
    return Board(game.rows, game.cols, game.win, exact=game.exact, renju=renju)


def state_of(game: Any, board: Board, player: int) -> Any:
    cells = [0] * game.cells
    for stones, sign in zip(board.stones, (1, -1), strict=True):
        for row, col in stones:
            cells[row * game.cols + col] = sign
    return game.from_board(tuple(cells), player, checked=False)


def board_of(game: Any, state: Any) -> Board:
    board = empty_board(game)
    for cell, sign in enumerate(game.board(state)):
        if sign:
            board.stones[sign < 0].add(divmod(cell, game.cols))
    return board


def create_check(spec: str, player: int, sample: int | None, seed: int) -> DefenceCheck:
    search = threat_search(spec)

    def first(board: Board, attacker: int) -> Cell | None:
        state = state_of(search.game, board, attacker)
        found = search.find(state, SearchClock(Limit(nodes=10 * NODES)))
        return found and divmod(found.line[0], search.game.cols)

    return DefenceCheck(first, player, sample, random.Random(seed))


def find_win(spec: str, moves: str) -> tuple[Any, ForcedWin | None]:
    position = z.game(spec).start()
    for move in moves.split():
        position = position.play(move)
    return position, threat_search(spec).find(position.state, SearchClock(Limit(nodes=NODES)))


def from_bottom(move: str) -> str:
    return f"{move[0].lower()}{16 - int(move[1:])}"


@pytest.mark.parametrize("row", range(5))
def test_published_wins_by_fours(row: int) -> None:
    """Each win is found in the published number of fours, not in fewer, and holds."""
    record = truth.records("gomoku/forced_wins.jsonl")[row]
    search = threat_search("gomoku:renju=true")
    game = search.game
    for check in record["checks"]:
        player = int(check["attacker"] == "white")
        board = "/".join(record["board"])
        state = game.position(board, to_move=player, unchecked=True).state
        fours = min(check["max_depth"], MAX_FOURS)
        found = search.find_by_fours(state, SearchClock(), max_fours=fours)
        if check["result"] is None:
            assert found is None
            continue
        assert found is not None
        assert found.only_fours
        # The published line leaves out the last block and the five.
        assert found.plies == len(check["result"]) + 2
        assert create_check(game.spec, player, None, row).refute(board_of(game, state)) is None
        assert follows_the_rules(game, state, found)


def follows_the_rules(game: Any, state: Any, found: ForcedWin) -> bool:
    """Return whether the line is legal and ends with a win."""
    winner = game.player(state)
    for action in found.line:
        assert action in game.actions(state)
        state = game.play(state, action)
    over, value = game.result(state)
    return bool(over) and (value < 0) == (game.player(state) != winner)


def random_wins(spec: str, count: int, seed: int, sample: int | None) -> int:
    """Check every win found in a number of random positions; return how many there were."""
    search = threat_search(spec)
    rng, wins = random.Random(f"{spec} {seed}"), 0
    for number in range(count):
        board = empty_board(search.game)
        player = play_randomly(board, rng.randrange(8, 40) * (1 + (board.win > 5)), rng)
        if player is None:
            continue
        state = state_of(search.game, board, player)
        found = search.find(state, SearchClock(Limit(nodes=NODES)))
        if found is not None:
            wins += 1
            assert follows_the_rules(search.game, state, found)
            check = create_check(spec, player, sample, number)
            assert check.refute(board) is None, (spec, search.game.board(state), found)
    return wins


@pytest.mark.parametrize("spec", RULES)
def test_no_defence_refutes_a_win(spec: str) -> None:
    assert random_wins(spec, 20, seed=1, sample=8) > 0


@pytest.mark.proof
@pytest.mark.parametrize("spec", RULES)
def test_no_defence_at_all_refutes_a_win(spec: str) -> None:
    """Of 1,400 random games 1,347 reach their position, and 859 of those have a forced win."""
    assert random_wins(spec, 1400 if spec == "gomoku" else 200, seed=2, sample=None) > 5


def test_the_check_sees_a_defence() -> None:
    """A search that claims a win with a closed three is refuted."""
    board = Board(15, 15)
    board.stones[0].update({(7, 4), (7, 5), (7, 6)})
    board.stones[1].update({(7, 3), (0, 0), (14, 14)})
    claimed = (7, 7), (7, 8), (6, 6)
    check = DefenceCheck(lambda board, _: next((c for c in claimed if c in board.free()), None), 0)
    assert check.refute(board) == [(7, 7), (7, 8), (6, 6), (0, 1)]


@pytest.mark.parametrize(
    "rules",
    [
        {"rows": 4, "cols": 5, "win": 3},
        {"rows": 5, "cols": 5, "win": 4},
        {"rows": 4, "cols": 6, "win": 3, "overline": "exact"},
        {"rows": 5, "cols": 5, "win": 4, "lose": 3},
    ],
    ids=str,
)
def test_small_boards_by_the_textbook(rules: dict[str, Any]) -> None:
    """Minimax confirms every win, and that it takes no longer."""
    game = BoardLineGame(**rules)
    search = ThreatSearch(game)
    rng, wins = random.Random(3), 0
    for _ in range(150):
        state = game.initial()
        for _ in range(game.cells - rng.randrange(6, 11)):
            if not game.result(state)[0]:
                state = game.play(state, rng.choice(game.actions(state)))
        if game.result(state)[0]:
            continue
        found = search.find(state, SearchClock(Limit(nodes=2_000)))
        if found is not None:
            wins += 1
            value = textbook.TextbookSearch(game, method="both", distance=True).solve(state)
            assert value > 0
            assert textbook.WIN_SCORE - value <= found.plies
    assert wins > 0


def test_an_open_three_wins_and_a_closed_one_does_not() -> None:
    position, found = find_win("gomoku", "h8 a1 i8 a15 j8 o1")
    assert found == ForcedWin(found.line, 3, only_fours=True)
    _, found = find_win("gomoku", "h8 g8 i8 a15 j8 o1")
    assert found is None
    position, found = find_win("gomoku", "h8 a1 i8 a15 i9 o1 h9 o15")
    assert found is not None
    assert follows_the_rules(position.game, position.state, found)


def test_an_immediate_five_comes_before_two_fives_of_the_defender() -> None:
    """Black's four is lower on the board than White's, which is open at both ends."""
    _, found = find_win("gomoku", "c12 c3 d12 d3 e12 e3 f12 f3")
    assert found is not None
    assert (found.plies, len(found.line)) == (1, 1)


def test_exactly_five_and_forbidden_points() -> None:
    # a1-c1 and e1-f1: d1 makes six, no five; without the rule it wins immediately.
    moves = "a1 a8 b1 c8 c1 e8 e1 g8 f1 i8"
    assert find_win("gomoku", moves)[1].plies == 1
    found = find_win("gomoku:overline=exact", moves)[1]
    assert found is None or found.plies > 1


def test_a_stopped_search_does_not_affect_the_next() -> None:
    """Whatever the node limit, the next search finds the same win."""
    position, found = find_win("gomoku", "h8 a1 h9 b1 g10 c3")
    search = threat_search("gomoku")
    assert found is not None
    for nodes in (1, 10, 100, 1000):
        assert search.find(position.state, SearchClock(Limit(nodes=nodes))) is None
        assert search.find(position.state, SearchClock(Limit(nodes=NODES))) == found


def test_the_kernel_runs_uncompiled_and_in_slices() -> None:
    class SmallSlices(SearchClock):
        def next_slice(self, min_nodes: int = 1) -> int:
            return min_nodes

    game = z.game("gomoku:size=9,renju=true")
    fast, plain = ThreatSearch(game), ThreatSearch(game)
    plain._kernel = functools.partial(search_threats, game)
    rng = random.Random(4)
    for _ in range(12):
        board = empty_board(game)
        player = play_randomly(board, rng.randrange(8, 20), rng)
        if player is not None:
            state = state_of(game, board, player)
            whole, sliced = SearchClock(Limit(nodes=300)), SmallSlices(Limit(nodes=300))
            assert fast.find(state, whole, 2) == plain.find(state, whole, 2)
            assert fast.find(state, sliced, 2) == plain.find(
                state, SearchClock(Limit(nodes=300)), 2
            )


def test_players_take_and_prevent_forced_wins() -> None:
    """The winner plays the first move of the line; the loser prevents it."""
    position, found = find_win("gomoku", "h8 g8 i8 a1 j8 a3 l9 k13 k10 a5 k11 a7")
    assert found is not None
    for spec in ("minimax:depth=1", "alphabeta:seconds=0.5"):
        thought = z.player(spec).choose(position)
        assert thought.value == "win"
        assert position.parse(thought.move) == found.line[0]
    # The same stones with the other side to move: a quiet move loses to that line.
    cells = position.game.board(position.state)
    state = position.game.from_board(cells, 1, checked=False)
    engine = BoardEngine(position.game, max_fours=0)
    after = position.game.play(state, position.game.parse_action(state, "o15"))
    assert (
        engine.search(after, 0, -engine.win_score, engine.win_score, SearchClock())
        == engine.win_score - 5
    )
    assert engine.known_forced_win(after).only_fours


def test_a_forced_win_is_a_reason() -> None:
    position, _ = find_win("gomoku", "h8 a1 h9 b1 g10 c3")
    told = z.analyze(position, Limit(seconds=1.0))
    reason = told.candidates[0].reasons[0]
    assert reason.kind == "forced"
    assert reason.text.startswith("wins by force within ")
    assert told.value == "win"


def test_gravity_has_no_threat_search() -> None:
    with pytest.raises(ZermeloError, match="without gravity"):
        ThreatSearch(z.game("connect4:9x9"))
