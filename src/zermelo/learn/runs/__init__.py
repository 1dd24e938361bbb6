"""Training runs: training from a recipe, and the folder, log, charts and model card of a run.

This is the top layer of `zermelo.learn`: only `__main__` and packages outside import it.
Listing runs (`listing.py`) needs no torch.
"""
