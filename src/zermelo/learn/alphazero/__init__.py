"""alphazero"""
