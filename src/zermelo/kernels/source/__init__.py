"""Source generation: write a kernel, and all functions that it calls, into one module.

`generator` collects the functions, `rewriter` adapts each of them, and `constants` writes the
constants of the rules. Only `compiler` imports this package.
"""
