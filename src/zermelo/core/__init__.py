"""The base of all other packages: games, positions, players, values, and their text forms.

It contains no particular game and no algorithm. Every other package may import it; it imports only
its own modules and the standard library.
"""
