"""squava"""
