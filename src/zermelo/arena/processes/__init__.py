"""Processes that run players' code: both ends of their connection, memory limits, and inspection.

Only `arena` imports this package; it imports `players` and the packages below.
"""
