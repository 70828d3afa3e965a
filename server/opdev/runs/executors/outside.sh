# Runs one step on this machine: bash -c THIS opdev N SCRIPT… CONDA PROGRAM ARGUMENT…
n=$1; shift
scripts=("${@:1:n}"); shift "$n"
conda=$1; shift
command=("$@")
set --
for script in "${scripts[@]}"; do
    . "$script" || { echo "[opdev] cannot be sourced: $script" >&2; exit 90; }
done
if [[ -n "$conda" ]]; then
    eval "$(conda shell.bash hook)" && conda activate "$conda" || { echo "[opdev] no conda environment: $conda" >&2; exit 90; }
fi
exec "${command[@]}"
