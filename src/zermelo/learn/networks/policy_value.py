"""AlphaZero's networks, by their shapes: a tower of convolutions, or full layers alone."""

from zermelo.core.game import WordGame
from zermelo.learn.config.network import DENSE, NetworkConfig
from zermelo.learn.networks.fully_connected import Dense, FoldedDense
from zermelo.learn.networks.numpy_inference import lines_of
from zermelo.learn.networks.tower import Folded, FoldedTower, Tower

Net = Tower | Dense


def made(shape: NetworkConfig, game: WordGame, encoder: str) -> Net:
    """A network that has not learned yet; torch's dice decide how it begins."""
    assert game.grid is not None
    kind = Dense if shape.kind == DENSE else Tower
    board = game.grid.rows, game.grid.cols
    return kind(shape, board, game.num_actions, lines_of(game, encoder))


def folded(net: Net) -> Folded:
    """The same for a processor."""
    return FoldedDense(net) if isinstance(net, Dense) else FoldedTower(net)
