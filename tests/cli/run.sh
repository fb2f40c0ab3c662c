#!/bin/sh
# Runs one pytest file with the project's Python environment, else the system's. 77 = skipped, for ctest.
root=$(cd "$(dirname "$0")/../.." && pwd)
python=${VICINITY_PYTHON:-$root/.venv/bin/python}
[ -x "$python" ] || python=python3
if ! "$python" -c 'import pytest' 2>/dev/null; then
  echo "skipped: $python has no pytest (make setup installs it)"
  exit 77
fi
exec "$python" -m pytest -q -p no:cacheprovider --rootdir "$root/tests/cli" "$@"
