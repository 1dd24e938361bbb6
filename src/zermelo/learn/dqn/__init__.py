"""Q-learning: DQN, tabular and supervised trainers, self-play, rollouts, and the player.

Only `zermelo.learn.runs` and the packages above `zermelo.learn` may import this package. The player
does not need torch.
"""
