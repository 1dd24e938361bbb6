"""reversi"""
