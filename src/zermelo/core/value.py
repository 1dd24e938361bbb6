"""The value of a position for the side to move: a win, a draw or a loss under best play."""

from enum import StrEnum


class Value(StrEnum):
    """A proven value. It is the text "win", "draw" or "loss", ordered LOSS < DRAW < WIN.

    >>> Value.WIN == "win", Value.LOSS < Value.DRAW < Value.WIN, max(Value), -Value.WIN
    (True, True, 'win', 'loss')
    """

    LOSS = "loss"
    DRAW = "draw"
    WIN = "win"

    @classmethod
    def from_score(cls, score: float) -> "Value":
        """Return a win, a draw or a loss, for a score above, at or below 0.

        >>> Value.from_score(12), Value.from_score(0), Value.from_score(-1)
        ('win', 'draw', 'loss')
        """
        return cls.WIN if score > 0 else cls.LOSS if score < 0 else cls.DRAW

    @property
    def sign(self) -> int:
        """1 for a win, 0 for a draw, -1 for a loss."""
        return (self is Value.WIN) - (self is Value.LOSS)

    def __neg__(self) -> "Value":
        """Return the value of the same position for the other side."""
        return Value.from_score(-self.sign)

    def __lt__(self, other: str) -> bool:
        """Return whether this value is worse than the other for the side to move."""
        return self.sign < Value(other).sign

    def __le__(self, other: str) -> bool:
        """Return whether this value is worse than or equal to the other for the side to move."""
        return self.sign <= Value(other).sign

    def __gt__(self, other: str) -> bool:
        """Return whether this value is better than the other for the side to move."""
        return self.sign > Value(other).sign

    def __ge__(self, other: str) -> bool:
        """Return whether this value is better than or equal to the other for the side to move."""
        return self.sign >= Value(other).sign

    def __repr__(self) -> str:
        """Return the quoted text, like the repr of a string."""
        return repr(self.value)
