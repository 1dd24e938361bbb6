"""Recipes, the settings they hold, schedules, and the report of an update.

Everything in `zermelo.learn` may import this package. It imports no other package of
`zermelo.learn`, and neither torch nor numpy.
"""
