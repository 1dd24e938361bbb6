"""A studio for the tests of each file."""

from collections.abc import Iterator

import pytest

from support.studio import Studio, serve
from zermelo.studio.app import create_app


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    yield from serve(create_app(tmp_path_factory.mktemp("studio") / "studio.db"))
