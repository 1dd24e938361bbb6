"""A match of two players from a file of openings, each of which is played from both sides.

A line of the file is one opening, as offsets from the centre of the board: `0,0, 1,0, 1,3`.
"""

import argparse
import re
from pathlib import Path

import zermelo as z
from zermelo.core.position import Position


def opened(game: z.Game, line: str) -> Position:
    """The position after an opening."""
    assert game.grid is not None
    numbers = [int(number) for number in re.findall(r"-?\d+", line)]
    position = game.start()
    for right, down in zip(numbers[::2], numbers[1::2], strict=True):
        row, col = game.grid.rows // 2 + down, game.grid.cols // 2 + right
        position = position.play_action(row * game.grid.cols + col)
    return position


def play(position: Position, players: list[z.Player]) -> Position:
    """A game to its end."""
    while not position.is_over:
        position = position.play(players[position.player].choose(position).move)
    return position


def main() -> None:
    """Play and tell the score after every game."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game")
    parser.add_argument("one")
    parser.add_argument("other")
    parser.add_argument("openings", type=Path)
    parser.add_argument("--every", type=int, default=1, help="of so many openings take one")
    asked = parser.parse_args()
    game, points, games = z.game(asked.game), 0.0, 0
    lines = [line for line in asked.openings.read_text().splitlines() if line.strip()]
    for number, line in list(enumerate(lines, 1))[:: asked.every]:
        for seat in (0, 1):
            players = [z.player(asked.one), z.player(asked.other)][:: 1 - 2 * seat]
            end = play(opened(game, line), players)
            value = int(game.result(end.state)[1])  # for the side that would move
            own = value if end.player == seat else -value
            points += (1 + own) / 2
            games += 1
            result = {1: "won", 0: "drawn", -1: "lost"}[own]
            moves = f"{len(end.history)} moves"
            print(
                f"opening {number} seat {seat}: {result}, {moves}; {points:g} of {games}",
                flush=True,
            )


if __name__ == "__main__":
    main()
