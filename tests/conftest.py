"""Settings that all tests share.

Property tests run the same examples every time. ``HYPOTHESIS_PROFILE=deep`` makes them search
more widely with fresh randomness; ``--hypothesis-seed`` fixes that randomness.
"""

import os

from hypothesis import HealthCheck, settings

# Which test compiles something first is chance, and what commands say must not hang on it.
os.environ["CARDCOMMONS_QUIET"] = "1"

# A slow machine, or a first compile within an example, is no fault of the code under test.
_PATIENT = (HealthCheck.too_slow, HealthCheck.data_too_large)

settings.register_profile(
    "ci", derandomize=True, max_examples=60, deadline=None, suppress_health_check=_PATIENT
)
settings.register_profile(
    "deep", max_examples=2000, deadline=None, suppress_health_check=_PATIENT, print_blob=True
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
