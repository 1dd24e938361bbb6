"""Networks: Q, value and policy-value networks in torch, their inference in numpy, their files.

Models, actors, trainers and players may import this package; it imports only `zermelo.learn.batch`
and `zermelo.learn.config` of `zermelo.learn`. Modules that play (`numpy_inference`, `q_table`,
`evaluation`, `weights_file`) do not need torch.
"""
