import os

import pytest
import synthetic

for name in ("VICINITY_PAPERS", "VICINITY_EXPERIMENTS"):  # the tests are about this repository
    os.environ.pop(name, None)


LONGEST = ("test_browser.py", "test_report.py")  # a worker each, from the beginning


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST))


@pytest.fixture(scope="session")
def root(tmp_path_factory):
    """A repository with two GPU machines and one without; tests must not write into it."""
    root = synthetic.make_root(tmp_path_factory.mktemp("root"))
    synthetic.make_machine(root / "results", "gpu-a", "NVIDIA H100 80GB HBM3")
    synthetic.make_machine(root / "results", "gpu-b", "NVIDIA H200", speed=1.1, seed=8)
    synthetic.make_machine(root / "results", "cpu-only", cores=2, seed=9)
    return root
