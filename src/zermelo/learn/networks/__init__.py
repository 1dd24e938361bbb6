"""Q, value and policy-value networks in torch, their inference in numpy, and their weights files.

Models, actors, trainers and players may import this package. From `zermelo.learn`, it imports only
`batch` and `config`. The modules that players use (`numpy_inference`, `q_table`, `evaluation` and
`weights_file`) do not need torch.
"""
