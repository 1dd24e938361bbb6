"""The command about proofs: a game's value, in a file that a script of a hundred lines checks."""

import time
from pathlib import Path

import click

from zermelo.cli import options

_REFUSED = 1


@click.command()
@click.argument("game")
@click.option(
    "--out",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write.",
)
@options.json_option
def prove(game: str, out: Path, as_json: bool) -> int:
    """Write a strategy for the winner of GAME, or for a draw one for each side.

    scripts/check_proof.py checks the file against every reply. A proof of more than 2 million
    positions, or 20 MB, is refused.
    """
    from zermelo.core.errors import TooLarge
    from zermelo.games import registry
    from zermelo.search.proofs import proof as proofs

    rules = registry.game(game)
    if not out.parent.is_dir() or (out.exists() and not out.is_file()):
        msg = f"--out {out}: it must be a file in a folder that is there"
        raise click.UsageError(msg)
    begin = time.perf_counter()
    try:
        with options.progress(f"proving {game}") as progress:
            proof = proofs.prove(rules, progress)
    except TooLarge as error:
        click.echo(f"zermelo: {error}", err=True)
        return _REFUSED
    size = proof.write(out)
    found = {
        "game": game,
        "claim": proof.claim,
        "positions": len(proof.lines),
        "bytes": size,
        "path": str(out),
        "seconds": round(time.perf_counter() - begin, 3),
    }
    if as_json:
        options.print_json(found)
    else:
        value = "a draw" if proof.claim == "draw" else f"the {proof.claim} player wins"
        click.echo(
            f"{game}: {value}; {len(proof.lines):,} positions, {options.size(size)}, "
            f"in {found['seconds']:.2f} s"
        )
    return 0
