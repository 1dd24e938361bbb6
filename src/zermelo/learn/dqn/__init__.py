"""Q-learning: the DQN learner and its trainer, self-play, rollouts, tables, labels, and the player.

Only `zermelo.learn.runs` and the packages above `zermelo.learn` may import it. The player needs
no torch.
"""
