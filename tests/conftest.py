"""Settings for all tests."""

from hypothesis import settings

# Compilation and a busy second core make single examples slow; the suite as a whole is timed.
settings.register_profile("zermelo", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("zermelo")
