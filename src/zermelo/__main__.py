"""Run the command line, as `zermelo` or with `python -m zermelo`."""

import sys

_INTERRUPTED = 130  # exit code


def main() -> None:
    """Import the command line and run it; Ctrl-C during the import is reported in one line."""
    try:
        from zermelo.cli import main as run
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write("zermelo: stopped\n")
        sys.exit(_INTERRUPTED)
    run()


if __name__ == "__main__":  # child processes that are spawned import this module as well
    main()
