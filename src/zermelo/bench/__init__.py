"""Benchmarks that measure Zermelo and other installed libraries in the same run, on one core.

There is a module for each suite, named as in `zermelo bench`; `measure` measures rates and builds
the reports. Only the command line imports this package.
"""
