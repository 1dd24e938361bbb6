"""`python -m zermelo`."""

from zermelo.cli import main

if __name__ == "__main__":  # processes that are spawned import this again
    main()
