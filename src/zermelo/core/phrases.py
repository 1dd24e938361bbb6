"""The wording of values, estimates and counts, and the escaping of text, for all screens."""

import unicodedata

from zermelo.core.value import Value

YOU = "you"  #: the name of the human if the other player is a program
# (threshold, word for estimates above it), highest first; the word below all of them is "losing".
_WORDS = ((0.9, "winning"), (0.3, "better"), (-0.3, "balanced"), (-0.9, "worse"))


def word_for(
    value: Value | None, estimate: float | None, sides: tuple[str, str] | None = None
) -> str:
    """Return a word for a proven value or, if the value is None, for the estimate.

    `sides` are the names of the side to move and of its opponent; the text then names the winner.
    A side may be called "you".

    >>> word_for(Value.WIN, None), word_for(None, 0.95), word_for(None, 0.1), word_for(None, -0.99)
    ('wins', 'winning', 'balanced', 'losing')
    >>> word_for(Value.LOSS, None, ("AI", YOU)), word_for(Value.WIN, None, ("AI", YOU))
    ('you win', 'AI wins')
    """
    if value is not None and sides is not None:
        winner = sides[0] if value == Value.WIN else sides[1]
        verb = "win" if winner == YOU else "wins"
        return "draw" if value == Value.DRAW else f"{winner} {verb}"
    if value is not None:
        return {"win": "wins", "draw": "draw", "loss": "loses"}[value]
    number = estimate or 0.0
    return next((word for above, word in _WORDS if number > above), "losing")


def describe_value(
    value: Value | None, estimate: float | None, plies: int | None = None, diff: int | None = None
) -> str:
    """Return the word for a value, then the number of moves or the disc margin if it is known.

    >>> describe_value(Value.WIN, None, plies=5), describe_value(Value.LOSS, None, diff=-12)
    ('wins in 3 moves', 'loses by 12')
    """
    word = word_for(value, estimate)
    if diff:
        return f"{word} by {abs(diff)}"
    return f"{word} in {count_moves(plies)}" if plies else word


def count_moves(plies: int) -> str:
    """Return how many moves the winner makes in a game that ends after `plies` plies.

    >>> count_moves(1), count_moves(4), count_moves(5)
    ('1 move', '2 moves', '3 moves')
    """
    return count((plies + 1) // 2, "move")


def count(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, in the plural unless the number is 1.

    >>> count(1, "position"), count(4520, "position"), count(2, "leaf", "leaves"), count(3, "box")
    ('1 position', '4,520 positions', '2 leaves', '3 boxes')
    """
    ending = "es" if noun.endswith(("s", "x", "ch", "sh")) else "s"
    return f"{number:,} {noun if number == 1 else plural or noun + ending}"


def escape_controls(text: str, keep: str = "") -> str:
    r"""Return a text that is safe to print on a terminal and that every stream can encode.

    Text from players, records and databases may contain characters that a terminal obeys: control
    characters, which begin escape sequences, and characters that change the direction of text.
    These, and lone surrogates, are replaced by their escapes in Python, except those in `keep`.

    >>> escape_controls("a\x1b[2J é\n"), escape_controls("a\x1b[2J é\n", keep="\n")
    ('a\\x1b[2J é\\n', 'a\\x1b[2J é\n')
    """
    if text.isprintable():
        return text
    return "".join(
        char
        if char.isprintable() or char in keep or unicodedata.category(char) == "Zs"
        else char.encode("unicode_escape").decode()
        for char in text
    )
