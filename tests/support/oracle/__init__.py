"""An oracle written apart from the package: its own rules, a plain negamax, and claims to check.

`lines` holds the rules of line games, `negamax` solves any rules, `samples` generates positions,
and `claims` compares what the package says about a position with the oracle. Only `samples` and
`claims` import the package, to build positions and to read its answers.
"""
