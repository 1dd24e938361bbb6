"""The arena: tournaments between players, with ratings and reports; `tournament` runs one.

`plan` says which games to play, `game` plays one, `worker` and `workers` play them in processes,
`standings`, `ratings` and `sprt` evaluate them, `report` and `charts` show them. cli, bench and
learn may import this.
"""
