"""negamax"""
