"""Benchmarks of batches: what `z.solve_many` and `z.model(…).evaluate` add to the bare kernels.

`suite` runs the two parts: `solving` and `evaluating`. Only the command line imports this package.
"""
