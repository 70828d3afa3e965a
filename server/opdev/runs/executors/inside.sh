# Runs one step in a container: bash -lc THIS opdev GRACE CWD N NAME=VALUE… N SCRIPT… CONDA PROGRAM ARGUMENT…
# Everything is an argument, nothing is quoted.  Input is the lifeline: when it ends, whoever started us is gone or
# wants an end, and the step's session is ended from here, because signals do not pass into a container.
grace=$1 cwd=$2
shift 2
n=$1; shift
for ((i = 0; i < n; i++)); do export "$1"; shift; done
n=$1; shift
scripts=("${@:1:n}"); shift "$n"
conda=$1; shift
command=("$@")
set --
cd -- "$cwd" || { echo "[opdev] no such folder in the container: $cwd" >&2; exit 91; }
for script in "${scripts[@]}"; do
    . "$script" || { echo "[opdev] cannot be sourced: $script" >&2; exit 90; }
done
if [[ -n "$conda" ]]; then
    eval "$(conda shell.bash hook)" && conda activate "$conda" || { echo "[opdev] no conda environment: $conda" >&2; exit 90; }
fi
mark="OPDEV_STEP=$$-$RANDOM$RANDOM"
# What the step started: its session, and what left that and still carries the mark.
ours() {
    local folder line words
    for folder in /proc/[0-9]*; do
        { read -r line <"$folder/stat"; } 2>/dev/null || continue
        set -- ${line##*) }
        [[ "$1" == Z ]] && continue
        if [[ "$4" != "$session" ]]; then
            { mapfile -d '' words <"$folder/environ"; } 2>/dev/null || continue
            [[ " ${words[*]} " == *" $mark "* ]] || continue
        fi
        echo "${folder#/proc/}"
    done
}
env "$mark" setsid -- "${command[@]}" </dev/null &
session=$!
(
    cat >/dev/null
    left=$(ours); [[ -n "$left" ]] && kill -TERM $left 2>/dev/null
    for ((i = 0; i < grace * 10; i++)); do [[ -z "$(ours)" ]] && exit; sleep 0.1; done
    left=$(ours); [[ -n "$left" ]] && kill -KILL $left 2>/dev/null
) <&0 >/dev/null 2>&1 &
watch=$!
wait "$session"
status=$?
left=$(ours)
[[ -n "$left" ]] && { kill -TERM $left; sleep 0.5; left=$(ours); [[ -n "$left" ]] && kill -KILL $left; } 2>/dev/null
pkill -P "$watch" 2>/dev/null
kill -KILL "$watch" 2>/dev/null
exit "$status"
