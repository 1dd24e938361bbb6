"""Screens at the keyboard: input → Match → view. Nothing below imports this."""
