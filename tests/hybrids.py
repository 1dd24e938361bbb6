"""What the tests of learned values share: the game, the recipes, and one that takes seconds."""

from dataclasses import replace
from typing import Any

import zermelo as z
from zermelo.games.tactics import WordLineGame
from zermelo.learn import recipes
from zermelo.learn.recipes import Recipe

_SQUAVA = z.game("squava")
assert isinstance(_SQUAVA, WordLineGame)
GAME: WordLineGame = _SQUAVA
OURS, PUBLISHED = recipes.load("squava-hybrid"), recipes.load("squava-hybrid-published")


def tiny(recipe: Recipe, **changes: Any) -> Recipe:
    """The same network, so that nothing is compiled anew, but a minute's worth of nothing."""
    learning = replace(recipe.learning, updates=12, batch=16, warm_up=16, **changes)
    keeping = replace(recipe.keeping, checkpoint=5, grade=6)
    acting = replace(recipe.acting, games=3)
    small = replace(recipe.replay, size=2000)
    searching = replace(recipe.searching, depth=1)
    return replace(
        recipe, learning=learning, keeping=keeping, acting=acting, replay=small, searching=searching
    )
