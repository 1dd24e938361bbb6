"""Check that the values in a recipe are valid and consistent with each other."""

from collections.abc import Iterator

from zermelo.core.errors import ZermeloError
from zermelo.learn.config.custom import ENCODER, is_custom
from zermelo.learn.config.network import POLICY_VALUE_KINDS, VALUE_KINDS
from zermelo.learn.config.recipe import KINDS, Recipe
from zermelo.learn.config.selfplay import POLICY_VALUE_ENCODERS, SEARCH_RULES

Requirement = tuple[bool, str]  #: (whether the requirement is met, message if it is not)


class BadRecipe(ZermeloError):
    """Raised when a recipe cannot be read or is not valid; the message names the problem."""


def check(recipe: Recipe) -> None:
    """Raise BadRecipe if the recipe is not valid; the message names the first problem."""
    for requirements in (_kind, _learning, _games, _alphazero, _positive):
        for is_met, problem in requirements(recipe):
            if not is_met:
                msg = f"{recipe.name}: {problem}"
                raise BadRecipe(msg)


def _kind(recipe: Recipe) -> Iterator[Requirement]:
    kind, network = recipe.kind, recipe.network.kind
    yield kind in KINDS, f"kind is {kind!r}: it must be one of {', '.join(KINDS)}"
    yield (
        kind != "supervised" or "supervised" in recipe.name,
        "a recipe that learns from solver labels must have 'supervised' in its name",
    )
    mismatch = f"a recipe of kind {kind} cannot use a network of kind {network}"
    yield (kind == "value") == (network in VALUE_KINDS), mismatch
    if recipe.network.is_custom:
        yield kind != "tabular", "network.kind is a network of your own, but a table has no network"
    else:
        yield (kind == "alphazero") == (network in POLICY_VALUE_KINDS), mismatch


def _learning(recipe: Recipe) -> Iterator[Requirement]:
    learning = recipe.learning
    yield recipe.kind != "tabular" or len(learning.phases) == 1, "a table learns in one phase only"
    yield (
        bool(learning.phases) and all(phase.share > 0 for phase in learning.phases),
        "there must be at least one phase, and every phase must have a share above 0",
    )
    yield (
        learning.loss in ("huber", "mse", *("cross",) * (recipe.kind == "value")),
        f"loss is {learning.loss!r}: it must be huber or mse or, for a value network, cross",
    )
    yield (
        0 < learning.warm_up <= recipe.replay.size,
        f"warm_up is {learning.warm_up}: it must be from 1 to replay.size ({recipe.replay.size})",
    )


def _games(recipe: Recipe) -> Iterator[Requirement]:
    acting, targets = recipe.acting, recipe.searching.targets
    yield (
        bool(acting.seats) and set(acting.seats) <= {0, 1},
        f"seats is {list(acting.seats)}: each seat must be 0 or 1",
    )
    yield (
        targets in ("search", "steps"),
        f"targets is {targets!r}: it must be search or steps",
    )
    yield (
        recipe.kind != "value" or not acting.response,
        "a value network learns the value of optimal play, not a best response",
    )
    yield (
        recipe.kind not in ("alphazero", "supervised") or not acting.response,
        f"a recipe of kind {recipe.kind} plays against no opponent, so it learns no best response",
    )


def _alphazero(recipe: Recipe) -> Iterator[Requirement]:
    selfplay, is_alphazero = recipe.selfplay, recipe.kind == "alphazero"
    yield (
        not is_alphazero or _fits_rollouts(recipe),
        f"updates and checkpoint must be multiples of {selfplay.updates}, the updates per rollout",
    )
    yield from _encoder(recipe)
    yield (
        selfplay.rule in SEARCH_RULES,
        f"rule is {selfplay.rule!r}: it must be {' or '.join(SEARCH_RULES)}",
    )
    yield (
        bool(selfplay.simulations) and min(selfplay.simulations) > 0,
        f"simulations is {list(selfplay.simulations)}: it must be a list of numbers above 0",
    )


def _encoder(recipe: Recipe) -> Iterator[Requirement]:
    """Yield the requirements of AlphaZero's encoder and of custom encoders."""
    kind, encoder, network = recipe.kind, recipe.encoder, recipe.network
    if not is_custom(ENCODER, encoder):
        names = " or ".join(POLICY_VALUE_ENCODERS)
        yield (
            kind != "alphazero" or encoder in POLICY_VALUE_ENCODERS,
            f"encoder is {encoder!r}: AlphaZero needs {names}, or an encoder of your own",
        )
        yield (
            kind != "alphazero" or encoder == "cells" or not network.is_custom,
            f"encoder is {encoder!r}, but a network of your own sees the planes: leave encoder out",
        )
        return
    yield (
        kind not in ("value", "tabular"),
        f"encoder is {encoder}, but a recipe of kind {kind} has no encoder: leave it out",
    )
    yield (
        kind != "alphazero" or network.is_custom,
        f"encoder is {encoder}: an encoder of your own needs a network of your own in AlphaZero",
    )
    yield (
        kind != "alphazero" or recipe.selfplay.images == 1,
        "selfplay.images must be 1 with an encoder of your own: only planes have symmetric images",
    )


def _fits_rollouts(recipe: Recipe) -> bool:
    updates = recipe.selfplay.updates
    return updates > 0 and not any(
        number % updates for number in (recipe.learning.updates, recipe.keeping.checkpoint)
    )


def _positive(recipe: Recipe) -> Iterator[Requirement]:
    tables = {
        "learning": ("updates", "batch", "every", "moves"),
        "acting": ("games", "steps"),
        "keeping": ("checkpoint", "grade"),
        "searching": ("depth", "late_depth", "opening", "games", "play_depth"),
        "selfplay": ("games", "plies", "considered", "images", "start_plies", "updates"),
    }
    for table, names in tables.items():
        for name in names:
            number = getattr(getattr(recipe, table), name)
            yield number > 0, f"{table}.{name} is {number}: it must be 1 or more"
