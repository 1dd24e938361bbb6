"""Learning: recipes, vectorised games, networks, trainers, actors and runs.

Layers from top to bottom: `runs`; `dqn`, `hybrid` and `alphazero`; `models`; `actors`; `networks`;
`batch`; `config`. No package outside `zermelo.learn` imports torch. Players, and all modules that
they import, do not need torch.
"""
