#!/usr/bin/env bash
# From a folder of experiments to reports, in a job of continuous integration.
#
#   examples/ci/report.sh ROOT OUT [EXPERIMENT_KEY]
#
# Validates the definitions, registers what lies under ROOT, materializes every job and experiment (or one
# experiment), and copies the reports to OUT. Every partition is tried, also after one failed; a failed step
# or a failed blocking check makes the whole command fail (exit code 1) once all have been tried.
#
# Everything is kept below RL_PIPELINE_HOME; keep that folder between runs (a cache), and only what changed
# on disk needs to be read again. The default is a fresh folder inside OUT.
set -euo pipefail

if [ $# -lt 2 ]; then
  echo "usage: $0 ROOT OUT [EXPERIMENT_KEY]" >&2
  exit 2
fi
root=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
only=${3:-}

export RL_PIPELINE_HOME=${RL_PIPELINE_HOME:-$out/home}
export RL_PIPELINE_ROOTS=${RL_PIPELINE_ROOTS:-$root}
DAGSTER_HOME=$(python -c 'from rl_pipeline.defs.instance import config_folder; print(config_folder())')
export DAGSTER_HOME DAGSTER_DISABLE_TELEMETRY=1
module=rl_pipeline.definitions

echo "== definitions"
dagster definitions validate -m "$module"

echo "== register"
rl-pipeline discover "$root" --register --json > "$out/discovery.json"

keys() { # keys jobs|experiments: one partition key a line
  python - "$out/discovery.json" "$1" "$only" <<'PYTHON'
import json, sys

found = json.load(open(sys.argv[1]))
for experiment in found["experiments"]:
    if sys.argv[3] in ("", experiment["partition_key"]):
        print("\n".join([experiment["partition_key"]] if sys.argv[2] == "experiments" else [job["partition_key"] for job in experiment["jobs"]]))
PYTHON
}

status=0
materialize() { # materialize GROUP KEY
  echo "== $1 $2"
  dagster asset materialize -m "$module" --select "group:$1" --partition "$2" || { status=1; echo "FAILED: $1 $2" >&2; }
}
while read -r key; do materialize jobs "$key"; done < <(keys jobs)
while read -r key; do materialize experiments "$key"; done < <(keys experiments)

echo "== reports"
rm -rf "$out/reports"
cp -R "$RL_PIPELINE_HOME/reports" "$out/reports"
find "$out/reports" -name metrics_report.md
exit $status
