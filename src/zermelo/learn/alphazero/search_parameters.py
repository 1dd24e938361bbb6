"""What both back ends of AlphaZero's search share: constants, schedule, answer.

Nothing here needs torch or a compiler.
"""

import math
from dataclasses import dataclass
from typing import Any

UNKNOWN = 2  #: in the place of a value that is not proven
NEVER = -1e9  #: the logit of what may not be played
VISITS, SCALE = 50.0, 0.5  #: values weigh beside the policy, and the more the more was seen
PUCT = 1.25  #: how much the policy weighs beside values (AlphaZero's, for few simulations)
NOISE = 0.25  #: the share of Dirichlet noise in the policy of a root (AlphaZero's)


@dataclass(frozen=True)
class Found:
    """What a search says of each root, in arrays of whoever searched."""

    actions: Any  #: the move; by PUCT the most visited
    policy: Any  #: [row, action]: the policy, improved; by PUCT the shares of visits
    value: Any  #: for the side to move, from -1 to 1
    visits: Any  #: [row, action]
    proven: Any  #: the value where it is proven, else UNKNOWN
    worths: Any  #: [row, action]: what actions seem worth; legal ones not tried get a mean
    known: Any  #: [row, action]: what actions are proven to be worth, else UNKNOWN


def considered_visits(considered: int, simulations: int) -> list[int]:
    """For each simulation the visits that its action has had: sequential halving.

    >>> considered_visits(4, 8)
    [0, 0, 0, 0, 1, 1, 2, 2]
    """
    if considered <= 1:
        return list(range(simulations))
    rounds = math.ceil(math.log2(considered))
    found: list[int] = []
    visits = [0] * considered
    left = considered
    while len(found) < simulations:
        extra = max(1, simulations // (rounds * left))
        for _ in range(extra):
            found += visits[:left]
            for action in range(left):
                visits[action] += 1
        left = max(2, left // 2)
    return found[:simulations]
