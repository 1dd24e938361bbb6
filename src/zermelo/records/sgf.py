"""SGF: GM[4] for line games without gravity, GM[2] for Reversi; one game without variations.

    (;FF[4]GM[4]SZ[15]RU[gomoku]RE[B+];B[hh];W[ig])

Points are two letters, column then row, `aa` at the top left; a pass is `[]`. `RU` holds the
spec of the game; if `RU` is missing or not a spec, the game is free-style Gomoku or Reversi of
size `SZ`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from zermelo.core.errors import BadRecord, BadSpec
from zermelo.core.game import Game
from zermelo.core.notation import quote_text
from zermelo.core.position import Outcome
from zermelo.games import registry
from zermelo.games.lines.rules import LineGame
from zermelo.games.reversi.rules import Reversi
from zermelo.records.record import Record, replay

_OTHELLO, _GOMOKU = "2", "4"
_LETTERS = "abcdefghijklmnopqrst"
_TOKEN = re.compile(r"([();])|([A-Z]{1,8})|(\[(?:[^\]\\]|\\.)*\])", re.DOTALL)
_SPACE = re.compile(r"\s*")
_SETUP = ("AB", "AW", "AE", "PL", "HA")
_RESULTS = {Outcome.FIRST: "B+", Outcome.SECOND: "W+", Outcome.DRAW: "0", None: "?"}


@dataclass
class _Node:
    line: int
    properties: dict[str, str] = field(default_factory=dict)


def write(record: Record) -> str:
    """Write the moves and the result; raise BadRecord if SGF cannot represent the game."""
    game = _require_sgf_game(record.game)
    if "swap" in record.moves:
        msg = "the SGF format cannot represent a swap, so this game cannot be written as SGF"
        raise BadRecord(msg)
    rows, cols = game.grid.rows, game.grid.cols
    kind = _OTHELLO if isinstance(game, Reversi) else _GOMOKU
    size = str(cols) if rows == cols else f"{cols}:{rows}"
    result = _RESULTS[record.outcome] + ("R" if record.is_resigned else "")
    head = f"FF[4]GM[{kind}]SZ[{size}]RU[{_escape(game.spec)}]RE[{result}]"
    moves = "".join(
        f";{'BW'[ply % 2]}[{_point(game, action)}]"
        for ply, action in enumerate(record.position.history or ())
    )
    return f"(;{head}{moves})\n"


def read(text: str, game: Game | None) -> Record:
    """Read a file with one game and no variations."""
    nodes = _parse_nodes(text)
    root = nodes[0].properties
    if root.get("GM") not in (_OTHELLO, _GOMOKU):
        kind = f"GM[{quote_text(root['GM'])}] is unsupported" if "GM" in root else "GM is missing"
        msg = f"line {nodes[0].line}: {kind}: only GM[4] (Gomoku) and GM[2] (Reversi) can be read"
        raise BadRecord(msg)
    rules = _require_sgf_game(_find_game(root, nodes[0].line, game))
    moves: list[str] = []
    lines: list[int] = []
    for node in nodes:
        for name in _SETUP:
            if name in node.properties:
                msg = f"line {node.line}: {name} sets up a position: a game must begin at the start"
                raise BadRecord(msg)
        if node is not nodes[0] and "RE" in node.properties:
            msg = f"line {node.line}: there is a second result"
            raise BadRecord(msg)
        if "B" in node.properties and "W" in node.properties:
            msg = f"line {node.line}: there are two moves in one node"
            raise BadRecord(msg)
        for colour in ("B", "W"):
            if colour in node.properties:
                if "BW"[len(moves) % 2] != colour:
                    msg = f"line {node.line}, move {len(moves) + 1}: {colour} moves out of turn"
                    raise BadRecord(msg)
                moves.append(_parse_move(rules, node, colour, len(moves) + 1))
                lines.append(node.line)
    return replay(rules, moves, _parse_result(root.get("RE", "?"), nodes[0].line), lines=lines)


def _find_game(root: dict[str, str], line: int, expected: Game | None) -> Game:
    """Return `expected`, or else the game that RU names, or else the one that fits GM and SZ.

    Raise BadRecord if the game that was found does not fit the record's GM and SZ.
    """
    size = re.fullmatch(r"([0-9]{1,2})(?::([0-9]{1,2}))?", root.get("SZ", ""))
    if size is None:
        msg = f"line {line}: SZ gives no board size: write SZ[15] or SZ[columns:rows]"
        raise BadRecord(msg)
    cols, rows = int(size[1]), int(size[2] or size[1])
    game = expected
    if game is None and "RU" in root:
        try:
            game = registry.named_game(root["RU"])
        except BadSpec:
            game = None
    if game is None and root["GM"] == _OTHELLO:
        game = registry.named_game(f"reversi:{rows}")
    if game is None:
        spec = f"gomoku:size={rows}" if rows == cols else f"mnk:{rows}x{cols}x5"
        game = registry.named_game(spec)
    if game.grid is None or (game.grid.rows, game.grid.cols) != (rows, cols):
        msg = f"line {line}: SZ[{root['SZ']}] is not the board size of {game.spec}"
        raise BadRecord(msg)
    if (root["GM"] == _OTHELLO) != isinstance(game, Reversi):
        msg = f"line {line}: GM[{root['GM']}] does not match {game.spec}"
        raise BadRecord(msg)
    return game


def _parse_nodes(text: str) -> list[_Node]:
    """Return the nodes in order; raise BadRecord if the text is not one game without variations."""
    nodes: list[_Node] = []
    name, has_value, is_open, is_closed = "", False, False, False
    line = 1
    for token, line in _tokens(text):
        if is_closed or (not is_open and token[1] != "("):
            msg = f"line {line}: {quote_text(token[0], 12)} does not belong in SGF"
            raise BadRecord(msg)
        if token[1] == "(" and is_open:
            msg = f"line {line}: variations cannot be read, only one line of play"
            raise BadRecord(msg)
        is_open = is_open or token[1] == "("
        is_closed = is_closed or token[1] == ")"
        if name and not has_value and not token[3]:
            msg = f"line {line}: {name} has no value"
            raise BadRecord(msg)
        if token[1]:
            name = ""
        if token[1] == ";":
            nodes.append(_Node(line))
        elif token[2]:
            name, has_value = token[2], False
        elif token[3]:
            has_value = True
            value = re.sub(r"\\(.)", r"\1", token[3][1:-1], flags=re.DOTALL)
            _add_property(nodes, name, value, line)
        if len(nodes) > 1000:
            msg = f"line {line}: there are more than 1,000 nodes"
            raise BadRecord(msg)
    if not nodes or not is_closed:
        msg = f"line {line}: an SGF game has the form (;…)"
        raise BadRecord(msg)
    return nodes


def _tokens(text: str) -> Iterator[tuple[re.Match[str], int]]:
    """Yield parentheses, semicolons, names and values, each with its line number."""
    end, line = 0, 1
    while True:
        space = _SPACE.match(text, end)
        begin = space.end() if space else end
        line += text.count("\n", end, begin)
        if begin == len(text):
            return
        token = _TOKEN.match(text, begin)
        if token is None:
            msg = f"line {line}: {quote_text(text[begin : begin + 12])} does not belong in SGF"
            raise BadRecord(msg)
        yield token, line
        end = token.end()
        line += text.count("\n", begin, end)


def _add_property(nodes: list[_Node], name: str, value: str, line: int) -> None:
    if not nodes or not name:
        msg = f"line {line}: a value has no property"
        raise BadRecord(msg)
    if name in nodes[-1].properties and name in ("RE", "B", "W", "GM", "SZ", "RU"):
        problem = "there are two results" if name == "RE" else f"{name} occurs twice in one node"
        msg = f"line {line}: {problem}"
        raise BadRecord(msg)
    nodes[-1].properties[name] = value


def _parse_move(game: LineGame | Reversi, node: _Node, colour: str, number: int) -> str:
    value = node.properties[colour]
    if not value and isinstance(game, Reversi):
        return "pass"
    if len(value) != 2 or not all(letter in _LETTERS for letter in value):
        msg = f"line {node.line}, move {number}: {quote_text(value)} is not a point such as aa"
        raise BadRecord(msg)
    col, row = (_LETTERS.index(letter) for letter in value)
    if row >= game.grid.rows or col >= game.grid.cols:
        msg = f"line {node.line}, move {number}: {value} is outside the {game.grid} board"
        raise BadRecord(msg)
    return game.grid.text(row * game.grid.cols + col)


def _point(game: LineGame | Reversi, action: int) -> str:
    if action >= game.grid.size:
        return ""
    row, col = game.grid.row_col(action)
    return _LETTERS[col] + _LETTERS[row]


def _parse_result(text: str, line: int) -> Outcome | None:
    if text in ("?", "", "Void"):
        return None
    if text in ("0", "Draw"):
        return Outcome.DRAW
    if re.fullmatch(r"[BW]\+(R|Resign|T|Time|F|Forfeit|[0-9.]*)", text):
        return Outcome.FIRST if text[0] == "B" else Outcome.SECOND
    msg = f"line {line}: RE[{quote_text(text)}] is not a result: write B+, W+, 0 or ?"
    raise BadRecord(msg)


def _escape(text: str) -> str:
    return re.sub(r"([\]\\])", r"\\\1", text)


def _require_sgf_game(game: Game) -> LineGame | Reversi:
    if isinstance(game, Reversi) or (isinstance(game, LineGame) and not game.gravity):
        return game
    msg = f"SGF is for line games without gravity and Reversi, not for {game.spec}"
    raise BadRecord(msg)
