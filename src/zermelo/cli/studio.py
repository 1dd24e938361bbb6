"""Commands that serve."""

import os
import socket
import sys
from pathlib import Path

import click

_GRACE = 2  # seconds for answers that are on their way when it stops
_BACKLOG = 2048
# seconds: requests wait for a thinking thread's Python no longer than this
_SWITCH = 0.0005


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Whom to listen to.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535))
@click.option(
    "--db",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where matches are kept.  [studio.db in the user's folder for such state]",
)
@click.option("--warm", is_flag=True, help="Compile everything first.")
def studio(host: str, port: int, db: Path | None, warm: bool) -> None:
    """Serve the web page: play, see what the engine thinks, review, learn."""
    try:
        import uvicorn

        from zermelo.studio.app import create_app
    except ImportError:
        msg = "the studio needs FastAPI and uvicorn: pip install 'zermelo[studio]'"
        raise click.ClickException(msg) from None
    from zermelo import precompile
    from zermelo.cli import options
    from zermelo.core import home

    if warm:
        click.echo("Compiling what is not compiled yet; the first time this takes some minutes.")
        with options.progress("compiling") as progress:
            precompile.warm(progress)
    app = create_app(db or home.database(), host)
    level = os.environ.get("ZERMELO_LOG", "warning")
    config = uvicorn.Config(
        app, log_level=level, server_header=False, timeout_graceful_shutdown=_GRACE
    )
    ours = _bound(host, port)
    name = f"[{host}]" if ":" in host else host
    click.echo(f"Zermelo studio: http://{name}:{ours.getsockname()[1]}  (stop with Ctrl-C)")
    if host not in ("127.0.0.1", "localhost", "::1"):
        click.echo("It listens beyond this machine: anyone who reaches it can play and think here.")
    sys.setswitchinterval(_SWITCH)
    uvicorn.Server(config).run(sockets=[ours])


def _bound(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes one that is free."""
    try:
        (family, kind, *_, address), *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        ours = socket.socket(family, kind)
        if os.name == "posix":
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        ours.bind(address)
        ours.listen(_BACKLOG)
    except OSError as error:
        msg = f"cannot listen on {host}, port {port}: {error.strerror}; --port takes another"
        raise click.ClickException(msg) from None
    return ours
