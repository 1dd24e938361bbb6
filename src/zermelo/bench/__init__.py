"""Benchmarks of Zermelo beside other libraries that are installed, in the same run on one core.

A module for each suite, named as in `zermelo bench`; `measure` times them and builds the reports.
Only the command line imports this package.
"""
