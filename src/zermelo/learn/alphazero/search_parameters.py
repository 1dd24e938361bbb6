"""Constants, halving schedule and results that the CPU and GPU searches have in common.

This module needs neither torch nor a compiler.
"""

import math
from dataclasses import dataclass
from typing import Any

UNPROVEN = 2  #: stands for a value that is not proven
ILLEGAL_LOGIT = -1e9  #: the logit of illegal actions
C_VISIT, C_SCALE = 50.0, 0.5  #: improved logit: logit + (C_VISIT + max visits) * C_SCALE * value
PUCT_C = 1.25  #: exploration constant of PUCT, as in AlphaZero for few simulations
NOISE_SHARE = 0.25  #: PUCT: share of Dirichlet noise in the policy of a root, as in AlphaZero


@dataclass(frozen=True)
class PolicySearchResult:
    """The results of a search for each root, as numpy arrays or as tensors."""

    actions: Any  #: the move to play; with PUCT, the one with the most visits
    policy: Any  #: [row, action]: the improved policy; with PUCT, the shares of visits
    value: Any  #: value of the root for the side to move, from -1 to 1
    visits: Any  #: [row, action]
    proven_value: Any  #: proven value of the root, or UNPROVEN
    q: Any  #: [row, action]: values of actions; legal actions without visits get a mixed value
    proven_q: Any  #: [row, action]: proven values of actions, or UNPROVEN


def halving_schedule(num_considered: int, simulations: int) -> list[int]:
    """Return, for each simulation, how many visits the selected root action must have so far.

    This implements sequential halving over the actions considered at the root.

    >>> halving_schedule(4, 8)
    [0, 0, 0, 0, 1, 1, 2, 2]
    """
    if num_considered <= 1:
        return list(range(simulations))
    rounds = math.ceil(math.log2(num_considered))
    schedule: list[int] = []
    visits = [0] * num_considered
    left = num_considered
    while len(schedule) < simulations:
        extra = max(1, simulations // (rounds * left))
        for _ in range(extra):
            schedule += visits[:left]
            for action in range(left):
                visits[action] += 1
        left = max(2, left // 2)
    return schedule[:simulations]
