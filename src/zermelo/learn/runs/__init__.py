"""Training runs: training by a recipe, the folder of a run, its log, charts and model card.

The top layer of `zermelo.learn`: only `__main__` and packages outside `zermelo.learn` import it.
Listing runs (`listing.py`) needs no torch.
"""
