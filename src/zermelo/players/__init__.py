"""Players: one file for each kind, created from a spec such as `level:5` by `registry`.

The contract is in `zermelo.core.player`; learned players live in `zermelo.learn`. This
package may import `search` and everything below it; matches, the arena and the screens import it.
"""
