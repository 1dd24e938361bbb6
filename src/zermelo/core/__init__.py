"""What everything else is built on: games, positions, players, values, and their text forms.

It knows no particular game and no algorithm. Every other package may import it; it imports only
itself and the standard library.
"""
