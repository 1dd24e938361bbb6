"""Commands that serve."""

import os
from pathlib import Path

import click


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
    from zermelo import saves, warming
    from zermelo.cli import asking

    if warm:
        click.echo("Compiling what is not compiled yet; the first time this takes some minutes.")
        with asking.progress("compiling") as progress:
            warming.warm(progress)
    app = create_app(db or saves.folder().parent / "studio.db", host)
    click.echo(f"Zermelo studio: http://{host}:{port}  (stop with Ctrl-C)")
    if host not in ("127.0.0.1", "localhost", "::1"):
        click.echo("It listens beyond this machine: anyone who reaches it can play and think here.")
    level = os.environ.get("ZERMELO_LOG", "warning")
    uvicorn.run(app, host=host, port=port, log_level=level, server_header=False)
