"""Code that commands share: their options, their answers for positions, and their progress bars.

Only the modules of `cli` import this package.
"""
