"""Play a match from a file of openings, each played twice with the players' seats swapped.

Each line of the file is one opening: offsets from the centre of the board, as in `0,0, 1,0, 1,3`.
"""

import argparse
import re
from pathlib import Path

import zermelo as z
from zermelo.core.position import Position


def play_opening(game: z.Game, line: str) -> Position:
    """Return the position after an opening."""
    assert game.grid is not None
    numbers = [int(number) for number in re.findall(r"-?\d+", line)]
    position = game.start()
    for right, down in zip(numbers[::2], numbers[1::2], strict=True):
        row, col = game.grid.rows // 2 + down, game.grid.cols // 2 + right
        position = position.play_action(row * game.grid.cols + col)
    return position


def play_to_end(position: Position, players: list[z.Player]) -> Position:
    """Return the final position of a game played from `position`."""
    while not position.is_over:
        position = position.play(players[position.player].choose(position).move)
    return position


def main() -> None:
    """Play the match, and print the score after every game."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game")
    parser.add_argument("one", help="spec of the player whose points are printed")
    parser.add_argument("other")
    parser.add_argument("openings", type=Path)
    parser.add_argument("--every", type=int, default=1, help="play only every N-th opening")
    arguments = parser.parse_args()
    game, points, games = z.game(arguments.game), 0.0, 0
    lines = [line for line in arguments.openings.read_text().splitlines() if line.strip()]
    for number, line in list(enumerate(lines, 1))[:: arguments.every]:
        for seat in (0, 1):
            players = [z.player(arguments.one), z.player(arguments.other)][:: 1 - 2 * seat]
            end = play_to_end(play_opening(game, line), players)
            value = int(game.result(end.state)[1])  # for the side that would move
            result = value if end.player == seat else -value
            points += (1 + result) / 2
            games += 1
            outcome = {1: "won", 0: "drawn", -1: "lost"}[result]
            text = f"opening {number} seat {seat}: {outcome} in {len(end.history or ())} plies"
            print(f"{text}; {points:g} points of {games}", flush=True)


if __name__ == "__main__":
    main()
