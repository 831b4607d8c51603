# Waiting on conditions. A time limit here never makes a pass: it only ends a wait that has failed.

# retry_until CONDITION…: until the command holds; RETRY_SECONDS (60) is when to give up, RETRY_PAUSE how often
# to look: on a machine that is emulated the looking itself is what takes time.
retry_until() {
    local deadline=$((SECONDS + ${RETRY_SECONDS:-60}))
    until "$@" >/dev/null 2>&1; do
        if ((SECONDS >= deadline)); then
            echo "never came true: $*" >&2
            return 1
        fi
        sleep "${RETRY_PAUSE:-0.02}"
    done
}

# milliseconds_until CONDITION…: how long it took, printed.
milliseconds_until() {
    local start end
    start=$(date +%s%N)
    retry_until "$@" || return 1
    end=$(date +%s%N)
    echo $(((end - start) / 1000000))
}

# Conditions that read like words.
exists() { [ -e "$1" ]; }
is_gone() { [ ! -e "$1" ]; }
contains() { grep -qF -- "$2" "$1"; }
