"""Benchmarks of Squava beside the published system: orderings, the hybrid, its training by phases.

`players` holds the measurements that the others share. Only `zermelo.bench` and `zermelo.cli`
import this package.
"""
