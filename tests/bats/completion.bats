#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# Shell completion: each shell is really asked to complete, with the script that is installed.

fail() {
    echo "$*" >&2
    return 1
}

setup() {
    scripts=$ST_BUILDDIR/contrib/completion
}

# What bash offers after WORD…; the last word is the one being written. As readline does it: split at `=`.
bash_offers() {
    bash --norc -c '
        source "$1"
        shift
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        "$(complete -p sandtrace | sed "s/.*-F \([^ ]*\) .*/\1/")"
        printf "%s\n" "${COMPREPLY[@]}"
    ' bash "$scripts/sandtrace" "$@"
}

# Line as it stands in zsh's editor after the given keys, its control sequences left out.
zsh_line_after() {
    timeout 60 zsh -f -c '
        zmodload zsh/zpty
        wait_for() {
            seen=
            while [[ $seen != *$~1* ]]; do
                zpty -r -t shell chunk && seen+=$chunk || sleep 0.02
            done
        }
        zpty -b shell zsh -f -i
        zpty -w shell "PS1=; autoload -U compinit; compinit -u -D; source $1; bindkey ^I complete-word; print REA\"\"DY"
        wait_for READY
        zpty -w -n shell $2
        wait_for $3
        zpty -d shell
        print -r -- $seen
    ' zsh "$scripts/_sandtrace" "$1" "$2"
}

@test "bash completes a verb" {
    run -0 bash_offers sandtrace ver
    [[ $'\n'$output$'\n' == *$'\nversion\n'* ]]
    [[ $'\n'$output$'\n' != *$'\ncompletion\n'* ]]
}

@test "bash offers every verb that the help lists" {
    run -0 bash_offers sandtrace ''
    offered=$output
    run -0 "$ST_BUILDDIR/sandtrace" --help
    verbs=$(awk '/^  [a-z]/ { print $1 }' <<<"$output")
    [ "$(wc -l <<<"$verbs")" -ge 2 ]
    for verb in $verbs; do
        grep -qx -e "$verb" <<<"$offered"
    done
}

@test "bash completes an option, and none of another verb's" {
    run -0 bash_offers sandtrace version --js
    [ "$output" = --json ]
    run -0 bash_offers sandtrace version --no-tr
    [ -z "$output" ]
}

@test "bash offers the words that a verb takes as its first argument" {
    run -0 bash_offers sandtrace completion ''
    [ "$output" = $'bash\nzsh\nfish' ]
    run -0 bash_offers sandtrace completion bash ''
    [ -z "$output" ]
}

@test "bash completes an option's file, after a space and after an equals sign" {
    cd "$BATS_TEST_TMPDIR"
    touch 'a file.yaml'
    run -0 bash_offers sandtrace version --config a
    [ "$output" = 'a file.yaml' ]
    run -0 bash_offers sandtrace version --config = a
    [ "$output" = 'a file.yaml' ]
}

@test "bash runs nothing that stands in a file's name" {
    cd "$BATS_TEST_TMPDIR"
    touch '$(touch pwned)' '`touch pwned`'
    run -0 bash_offers sandtrace version --config ''
    [[ $output == *'$(touch pwned)'* ]]
    [ ! -e pwned ]
}

@test "zsh completes a verb and its argument" {
    run -0 zsh_line_after $'sandtrace completi\tfi\t' '*completion*fish*'
    [[ $output == *completion* ]]
}

@test "fish completes a verb, its options and its argument" {
    run -0 fish --no-config -c "source $scripts/sandtrace.fish; complete -C 'sandtrace versi'"
    [[ $output == version* ]]
    run -0 fish --no-config -c "source $scripts/sandtrace.fish; complete -C 'sandtrace version --js'"
    [[ $output == --json* ]]
    run -0 fish --no-config -c "source $scripts/sandtrace.fish; complete -C 'sandtrace completion '"
    [ "$(sort <<<"$output")" = $'bash\nfish\nzsh' ]
}

@test "an unknown shell is refused with those that are known" {
    run -2 "$ST_BUILDDIR/sandtrace" completion tcsh
    [[ $output == *"no completion for 'tcsh': bash|zsh|fish are known"* ]]
}

@test "a misspelt verb is answered with the nearest" {
    run -2 "$ST_BUILDDIR/sandtrace" verison
    [[ $output == *"did you mean 'version'?"* ]]
}

@test "a misspelt option is answered with the nearest" {
    run -2 "$ST_BUILDDIR/sandtrace" version --jsno
    [[ $output == *"did you mean --json?"* ]]
}

@test "the man page and the help name the same verbs" {
    run -0 "$ST_BUILDDIR/sandtrace" --help
    verbs=$(awk '/^  [a-z]/ { print $1 } /^also:/ { sub(/;.*/, ""); for (i = 2; i <= NF; i++) print $i }' <<<"$output" | sort)
    [ -n "$verbs" ]
    described=$(sed -n '/^# VERBS/,/^# OPTIONS/s/^\*\([a-z]*\)\*.*/\1/p' "$ST_SRCDIR/docs/man/sandtrace.1.scd" | sort)
    [ "$verbs" = "$described" ]
}

@test "bash offers the words of a verb with several, and files after them" {
    cd "$BATS_TEST_TMPDIR"
    touch check.yaml
    run -0 bash_offers sandtrace policy ch
    [ "$output" = check ]
    run -0 bash_offers sandtrace policy check ch
    [ "$output" = check.yaml ]
}

# ---- all of it, in each shell ----

verbs() { "$ST_BUILDDIR/sandtrace" --help | awk '/^  [a-z]/ { print $1 } /^also:/ { sub(/;.*/, ""); for (i = 2; i <= NF; i++) print $i }'; }

# options_of VERB: as its help has them, in lines of their own or behind `and these`.
options_of() {
    "$ST_BUILDDIR/sandtrace" "$1" --help | awk '/^ +--config / { many = 0 }
        / and these, in man / || many { many = 1; for (i = 1; i <= NF; i++) if ($i ~ /^--[a-z]/) print $i; next }
        /^  (-[a-z],|   ) --/ { print $0 ~ /^  -/ ? $2 : $1 }' | sort -u
}

# offered: words of which only the first, up to white space or `=`, counts; sorted.
offered() { sed 's/[[:space:]=].*//' | grep '^--' | sort -u; }

@test "bash offers each option of each verb, and no other" {
    for verb in $(verbs); do
        diff <(options_of "$verb") <(bash_offers sandtrace "$verb" -- | offered) || fail "$verb"
    done
}

@test "fish offers each verb, each option of each verb, and no other" {
    diff <(verbs | cat - <(echo help) | sort) <(fish --no-config -c "source $scripts/sandtrace.fish; complete -C 'sandtrace '" | cut -f 1 | sort)
    for verb in $(verbs); do
        diff <(options_of "$verb") <(fish --no-config -c "source $scripts/sandtrace.fish; complete -C 'sandtrace $verb --'" | offered) || fail "$verb"
    done
}

# What zsh would offer is what _arguments is given.
@test "zsh offers each verb, each option of each verb, and no other" {
    run -0 zsh -f -c '
        autoload() { }; compdef() { }
        _describe() { print -l -- ${verbs%%:*} }
        _arguments() { print -l -- $@ }
        source $1
        words=(sandtrace ""); CURRENT=2; _sandtrace >$2/verbs
        for verb in $(grep -vx help $2/verbs); do
            words=(sandtrace $verb --); CURRENT=3; _sandtrace >$2/$verb
        done' zsh "$scripts/_sandtrace" "$BATS_TEST_TMPDIR"
    diff <(verbs | cat - <(echo help) | sort) <(sort "$BATS_TEST_TMPDIR/verbs")
    for verb in $(verbs); do
        diff <(options_of "$verb") <(sed 's/\[.*//' "$BATS_TEST_TMPDIR/$verb" | offered) || fail "$verb"
    done
}

@test "where an option takes one of a few words, each shell offers them" {
    run -0 bash_offers sandtrace run --network ''
    [ "$output" = $'none\nuser\nhost' ]
    run -0 bash_offers sandtrace run --depth = st
    [ "$output" = strict ]
    run -0 fish --no-config -c "source $scripts/sandtrace.fish; complete -C 'sandtrace run --network '"
    [ "$(cut -f 1 <<<"$output" | sort)" = $'host\nnone\nuser' ]
    run -0 zsh_line_after $'sandtrace run --network us\t' '*--network user*'
}

@test "what run is to run is completed as a command, and what it binds as a file" {
    cd "$BATS_TEST_TMPDIR"
    touch unheard-of.sh
    run -0 bash_offers sandtrace run mkdi
    [ "$(sort -u <<<"$output")" = mkdir ]
    run -0 bash_offers sandtrace run unheard
    [ "$output" = unheard-of.sh ]
    run -0 bash_offers sandtrace run --bind unh
    [ "$output" = unheard-of.sh ]
    run -0 fish --no-config -c "source $scripts/sandtrace.fish; complete -C 'sandtrace run mkdi'"
    [[ $output == mkdir* ]]
    run -0 zsh_line_after $'sandtrace run mkdi\t' '*run mkdir*'
}
