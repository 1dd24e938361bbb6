"""large"""
