# Sourced by the scripts: the root as working directory, and the names they share.
set -euo pipefail
unset CDPATH
if [[ -z ${own_help:-} && (${1:-} == --help || ${1:-} == -h) ]]; then
  sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"  # how the script begins
  exit 0
fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly root=$PWD
readonly python=.venv/bin/python
preset=${PRESET:-release}
results=${RESULTS:-results}
jobs=${JOBS:-$(nproc)}

# After the report: 1, where a check failed, is told.
end_with() {
  [[ $1 == 0 ]] || echo "A check failed: no times are recorded for the cases marked INVALID." >&2
  exit "$1"
}

say() { printf '\n== %s\n' "$*"; }
die() { printf 'vicinity: error: %s\n' "$*" >&2; exit 3; }

# For scripts that are called without make, which sets up what they need.
require_python() { [[ -x $python ]] || die "$root/.venv is not there: call scripts/setup python, which makes it"; }

# The build folder of a preset, as CMakePresets.json has it; BUILD overrides it (a copied build on another machine).
build_folder() {
  if [[ -n ${BUILD:-} ]]; then echo "$BUILD"; return; fi
  case $1 in
    release | ci) echo build ;;
    *) echo "build-$1" ;;
  esac
}

# The GPUs of this host that are called as the first one, a number a line; of those that CUDA_VISIBLE_DEVICES names, where it is set.
equal_gpus() {
  if [[ -n ${CUDA_VISIBLE_DEVICES:-} ]]; then echo "${CUDA_VISIBLE_DEVICES//,/$'\n'}"; return; fi
  nvidia-smi -L | awk -F ': | \\(UUID' '/^GPU/ { if (!name) name = $2; if ($2 == name) print substr($1, 5) }'
}

has_gpu() { [[ $(nvidia-smi -L 2>/dev/null) == GPU* ]]; }

# The repository, and the folders of further systems that the program is built with (SYSTEMS).
homes() {
  local list
  list=$(build_folder "$preset")/generated/system_folders.txt
  echo .
  [[ ! -f $list ]] || cat "$list"
}

# The descriptors to run: all, or those EXPERIMENTS names as "system/name" or as a file.
descriptors() {
  local name home found
  if [[ -z ${EXPERIMENTS:-} ]]; then
    while read -r home; do
      for found in "$home"/experiments/*/*.yaml; do [[ ! -f $found ]] || echo "${found#./}"; done
    done < <(homes)
    return
  fi
  for name in $EXPERIMENTS; do
    found=$name
    while [[ ! -f $found ]] && read -r home; do found=$home/experiments/$name.yaml; done < <(homes)
    if [[ -f $found ]]; then echo "${found#./}"; else echo "experiments/$name.yaml"; fi
  done
}

# Tells of the first that is not there, before anything runs.
require_descriptors() {
  local file
  for file in $(descriptors); do [[ -f $file ]] || die "EXPERIMENTS: there is no $file"; done
}

# vicinity_analysis, which also sees the descriptors and packages of further systems. In a shell of its own: its exports end with it.
analysis() ( become_analysis "$@" )

become_analysis() {
  require_python
  while read -r home; do
    [[ $home == . || ! -d $home/experiments ]] || export VICINITY_EXPERIMENTS=${VICINITY_EXPERIMENTS:+$VICINITY_EXPERIMENTS:}$home/experiments
    [[ $home == . || ! -d $home/analysis ]] || export VICINITY_PAPERS=${VICINITY_PAPERS:+$VICINITY_PAPERS:}$home/analysis
  done < <(homes)
  export MPLBACKEND=agg  # a notebook's kernel names one of its own, which .venv does not have
  exec "$python" -m vicinity_analysis "$@"
}

# A command that ends with the script where a signal ends that: bash alone would leave it running. Ctrl-C, SIGTERM and SIGHUP: 130.
supervised() {
  local status=0 child
  "$@" &
  child=$!
  # shellcheck disable=SC2064
  trap "kill -TERM $child 2>/dev/null || true; wait $child; exit 130" INT TERM HUP
  wait "$child" || status=$?
  trap - INT TERM HUP
  return "$status"
}

# C++ and CUDA sources under version control, or all in a copy without it.
sources() {
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files '*.hpp' '*.cpp' '*.cuh' '*.cu'
  else
    find core data cpu_ref kernels systems harness include tests examples peers -name '*.[hc]pp' -o -name '*.cu' -o -name '*.cuh'
  fi
}

# The machine's name in results/, as the program under test chooses it, or spells MACHINE.
machine_name() {
  "$1/vicinity" environment --json ${MACHINE:+--machine "$MACHINE"} | python3 -c 'import json, sys; print(json.load(sys.stdin)["machine"])'
}
