"""The arena: tournaments between players, with ratings and reports; `tournament` runs one.

`plan` defines the games to play, `game` plays one game, `worker_pool` plays many in separate
processes, `standings`, `ratings` and `sprt` evaluate the results, and `report` and
`charts` show them. `cli`, `bench` and `learn` may import this package.
"""
