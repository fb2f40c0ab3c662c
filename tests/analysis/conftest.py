import functools
import os

import pytest
import synthetic
import yaml

for name in ("VICINITY_PAPERS", "VICINITY_EXPERIMENTS"):  # the tests are about this repository
    os.environ.pop(name, None)


_load = yaml.safe_load
_compose = functools.lru_cache(maxsize=512)(functools.partial(yaml.compose, Loader=yaml.SafeLoader))


def load(stream):
    """yaml.safe_load: hundreds of tests read the same descriptors, whose text is taken apart once a process."""
    if not isinstance(stream, str):
        return _load(stream)
    node = _compose(stream)
    return None if node is None else yaml.SafeLoader("").construct_document(node)


yaml.safe_load = load
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
