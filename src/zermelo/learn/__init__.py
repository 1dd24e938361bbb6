"""Learning: recipes, vectorised games, networks, trainers, actors and runs; the only home of torch.

Layers from top to bottom: `runs`; `dqn`, `hybrid` and `alphazero`; `models`; `actors`; `networks`;
`batch`; `config`. Players, and all that they import, do without torch.
"""
