#!/usr/bin/env bash
# One task of an array on a cluster: `sbatch --array=0-7 --cpus-per-task=4 --time=1:00:00 study.sh P.toml 20000`.
# Each task has a seed and a store of its own; a task that is started again continues where it ended.
set -euo pipefail
task=${SLURM_ARRAY_TASK_ID:-0}
usage="usage: study.sh P.toml TRIALS"
matchprob estimate "${1:?$usage}" --trials "${2:?$usage}" --seed "$task" --workers "${SLURM_CPUS_PER_TASK:-1}" \
    --store "study_$task.sqlite" --json > "study_$task.part"
mv "study_$task.part" "study_$task.json"
