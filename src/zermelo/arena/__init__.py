"""The arena: tournaments between players, their ratings, and reports of them.

`plan` says which games there are, `table` plays one, `worker` and `pool` play many, `running` ties
them to the store; `standings`, `ratings` and `sequential` count; `page` and `charts` show.
"""
