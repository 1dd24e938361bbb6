"""Text that no terminal should receive as it is."""

#: an escape sequence, a C1 control, a carriage return, a bell, a bidirectional override
ATTACK = "\x1b]0;title\x07\x9b2J\rspoof\u202e"
RAW = ("\x1b]", "\x07", "\x9b", "\r", "\u202e")


def assert_escaped(text: str) -> None:
    """Check that a text contains the attack, and none of its control characters."""
    assert r"\x1b]0;title\x07\x9b2J" in text, text
    assert not any(control in text for control in RAW), ascii(text)
