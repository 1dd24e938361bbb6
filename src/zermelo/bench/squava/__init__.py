"""Compare our Squava players with the published system: move orderings, the hybrid, its training.

`players` contains the measurements that the other modules share. Only `zermelo.bench` and
`zermelo.cli` import this package.
"""
