"""Recipes, their settings, schedules, and the report that a trainer makes after each update.

Every package of `zermelo.learn` may import this one. It imports no other package of
`zermelo.learn`, and neither torch nor numpy.
"""
