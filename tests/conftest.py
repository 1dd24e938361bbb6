"""Settings for all tests."""

import os
import signal
from collections.abc import Iterator

os.environ.setdefault(
    "OPENBLAS_NUM_THREADS", "1"
)  # before numpy is imported, as in the command line

import pytest
from hypothesis import settings

# Compilation and a busy second core make single examples slow; the suite as a whole is timed.
settings.register_profile("zermelo", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("zermelo")
# A process that a shell starts in the background ignores Ctrl-C, and so would its children, some of
# which are to receive one.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# Folders and files whose tests take long; they run last, so that most failures are seen early.
SLOW = ("arena", "bench", "envs", "learn", "studio", "test_oracle", "test_package", "test_scripts")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run quick tests first."""
    items.sort(key=lambda item: any(part in item.nodeid for part in SLOW))


@pytest.fixture(autouse=True, scope="session")
def separate_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the saved games and runs of the user who runs the tests out of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ZERMELO_HOME", str(tmp_path_factory.mktemp("home")))
        yield
