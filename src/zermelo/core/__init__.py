"""The ground floor: games, positions, players and values, and the text that people exchange them in.

It knows no particular game and no algorithm. Every other package may import it; it imports only
itself and the standard library.
"""
