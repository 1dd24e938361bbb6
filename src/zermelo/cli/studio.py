"""The command `studio`, which serves the web page."""

import os
import socket
import sys
from pathlib import Path

import click

from zermelo.cli.common import options
from zermelo.cli.common.help import command
from zermelo.cli.common.progress import Progress

_BACKLOG = 2048
# seconds for which a thinking thread may hold the interpreter lock while a request waits
_SWITCH_INTERVAL = 0.0005


@command(
    examples=(
        "zermelo studio",
        "zermelo studio --port 8080",
    )
)
@click.option("--host", default="127.0.0.1", help="Address to bind to.")
@click.option(
    "--port",
    default=8000,
    type=click.IntRange(0, 65535),
    help="Port to listen on; 0 picks a free one.",
)
@options.db_option("SQLite file to store matches in.", "studio.db in Zermelo's state folder")
@click.option(
    "--game",
    "files",
    metavar="FILE",
    multiple=True,
    help="Python file of a game to offer on the page; may be repeated. The file is run.",
)
def studio(host: str, port: int, db: Path | None, files: tuple[str, ...]) -> None:
    """Play and analyze in the browser: serve the web page.

    On the page you can play, watch the engine think, review games and solve puzzles. The first
    time, kernels are compiled in the background while you play.
    """
    try:
        from zermelo.studio.app import create_app
        from zermelo.studio.server import create_server
    except ImportError:
        msg = "the studio needs FastAPI and uvicorn: pip install 'zermelo[studio]'"
        raise click.ClickException(msg) from None
    from zermelo.core import home
    from zermelo.games import registry

    app = create_app(db or home.database(), host, games=map(registry.game, files))
    server = create_server(app, os.environ.get("ZERMELO_LOG", "warning"))
    listener = _listen(host, port)
    name = f"[{host}]" if ":" in host else host
    click.echo(f"Zermelo studio: http://{name}:{listener.getsockname()[1]}  (Ctrl-C stops it)")
    if host not in ("127.0.0.1", "localhost", "::1"):
        click.echo(
            "Warning: anyone who can reach this address can play and run searches on this computer."
        )
    sys.setswitchinterval(_SWITCH_INTERVAL)
    preparation = app.state.players.preparation
    preparation.start()
    with Progress("compiling in the background", preparation.state):
        server.run(sockets=[listener])


def _listen(host: str, port: int) -> socket.socket:
    """Return a listening socket. Raise ClickException if the address cannot be used."""
    try:
        (family, kind, *_, address), *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        listener = socket.socket(family, kind)
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as error:
        msg = f"cannot listen on {host}, port {port}: {error.strerror}; try another --port"
        raise click.ClickException(msg) from None
    return listener
