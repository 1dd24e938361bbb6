"""Learning: the only home of torch. What plays (`models`, `players`, `forward`) does without."""
