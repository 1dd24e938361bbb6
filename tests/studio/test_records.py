"""Export and import of records."""

import pytest

from support.studio import Studio, assert_refused


def test_records_round_trip(studio: Studio) -> None:
    games = {
        "tictactoe": ["b2", "a1", "c1", "b1", "a3"],
        "connect4": ["4", "4", "3"],
        "reversi": ["d3", "c3"],
        "gomoku": ["h8", "i9"],
        "squava:pie=true": ["c3", "swap"],
    }
    for game, moves in games.items():
        names = [form["name"] for form in studio.get("formats", game=game).json()]
        assert names[:2] == ["text", "json"]
        for name in names:
            text = studio.post("export", game=game, moves=moves, format=name)
            if text.status_code == 422:
                assert "swap" in moves, text.text
                continue
            back = studio.post("import", text=text.json()["text"], format=name, game=game).json()
            assert (back["game"], back["moves"]) == (game, moves)
            assert back["position"]["ply"] == len(moves)
    assert_refused(studio.post("export", game="connect4", moves=["4"], format="sgf"), 422)
    assert_refused(
        studio.post("export", game="connect4", moves=["4"], format="pdf"), 422, "unknown"
    )
    assert_refused(studio.post("import", text="tictactoe b2 b2 *", format="text"), 422, "move 2")


@pytest.mark.parametrize("form", ["text", "json", "psq", "sgf", "digits", "transcript"])
@pytest.mark.parametrize("text", ["", "[" * 49_999, "9" * 20_000, "(;" * 20_000, "\0", "<b>"])
def test_malformed_records_are_assert_refused(studio: Studio, form: str, text: str) -> None:
    response = studio.post("import", text=text, format=form, game="reversi")
    assert response.status_code == 422 or (not text and form in ("digits", "transcript"))
