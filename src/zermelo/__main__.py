"""Run the command line with `python -m zermelo`."""

from zermelo.cli import main

if __name__ == "__main__":  # child processes that are spawned import this module as well
    main()
