"""Settings for all tests."""

import os
import signal
from collections.abc import Iterator

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command line does, before numpy

import pytest
from hypothesis import settings

# Compilation and a busy second core make single examples slow; the suite as a whole is timed.
settings.register_profile("zermelo", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("zermelo")
# What a shell puts in the background ignores Ctrl-C, and so would what is started here to get one.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def home_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Whoever runs the tests keeps the games of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ZERMELO_HOME", str(tmp_path_factory.mktemp("home")))
        yield
