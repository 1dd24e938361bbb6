"""Players: one module for each kind; `registry` creates a player from a spec such as `level:5`.

The interface is in `zermelo.core.player`; learned players live in `zermelo.learn`. This
package may import `search` and everything below it; matches, the arena and the screens import it.
"""
