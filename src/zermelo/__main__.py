"""`python -m zermelo`."""

from zermelo.cli import main

main()
