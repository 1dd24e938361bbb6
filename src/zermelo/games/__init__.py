"""The games: line games, Reversi and users' own games, and a registry that builds them from specs.

Importing the rules does not import numba. Every package above `core` and `kernels` may import this
package.
"""
