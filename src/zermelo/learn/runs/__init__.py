"""Training runs: train from a recipe, and write the folder, log, charts and model card of a run.

This is the top layer of `zermelo.learn`: in `zermelo.learn`, only `__main__` imports it.
Listing runs (`listing.py`) needs no torch.
"""
