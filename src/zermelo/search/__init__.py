"""Search: what walks a game's tree. Players, arena, learning and screens may import this."""
