#!/usr/bin/env bats
# Documents: what they show is typed, on a machine of its own, and what they promise is compared (lib/document.py).
bats_require_minimum_version 1.5.0
load lib/world
load lib/container
load lib/machine

setup_file() {
    require python3=python3
    make_world
    start_machine
    install_there
}

teardown_file() {
    remove_all_containers || true
    end_machine
    end_world
}

setup() { on_machine sh -c 'rm -rf /var/log/sandtrace/* /var/lib/sandtrace/quarantine /var/tmp/older* /var/tmp/forged*'; }

teardown() {
    make_room
    remove_all_containers
    retry_until nobody_is_watched
    on_machine sh -c '! mountpoint -q /var/log/sandtrace || umount /var/log/sandtrace'
}

nobody_is_watched() { on_machine sh -c '! ls /run/sandtrace/*/state.json 2>/dev/null'; }

# sandtrace in its usual places, with a key.
install_there() {
    on_machine rm -rf /etc/sandtrace /var/log/sandtrace /run/sandtrace
    on_machine mkdir -p /etc/sandtrace/policies /usr/share/sandtrace /usr/libexec/sandtrace /var/log/sandtrace
    cp -R "$ST_SRCDIR/policies" "$WORLD/shipped"
    on_machine cp -R "$WORLD/shipped" /usr/share/sandtrace/policies
    on_machine sh -c "cp $WORLD/bin/sandtrace $WORLD/bin/sandtrace-runtime /usr/bin/; cp $WORLD/bin/* /usr/libexec/sandtrace/"
    on_machine tee /etc/sandtrace/sandtrace.yaml >/dev/null <<END
runtime: $(command -v runc)
hook: /usr/libexec/sandtrace/sandtrace-hook
monitor: /usr/libexec/sandtrace/sandtrace-monitor
state_dir: /run/sandtrace
log_dir: /var/log/sandtrace
key_dir: /etc/sandtrace/keys
policy_dirs: [/etc/sandtrace/policies, /usr/share/sandtrace/policies]
quarantine_dir: /var/lib/sandtrace/quarantine
END
    there sandtrace keygen >"$NOTES/keygen-there"
}

there() { on_machine env SANDTRACE_CONFIG=/etc/sandtrace/sandtrace.yaml "$@"; }

# type_section DOCUMENT SECTION
type_section() {
    local dir
    dir=$(mktemp -d "$WORLD/typed.XXXXXX")
    python3 "$load_dir/document.py" script "$ST_SRCDIR/docs/$1" "$2" "$dir" >"$dir.script"
    there bash "$dir.script" || { tail -n +1 "$dir"/output-* >&2; fail "$1, $2: a command failed"; return 1; }
    python3 "$load_dir/document.py" compare "$ST_SRCDIR/docs/$1" "$2" "$dir"
}

# sections DOCUMENT: those with something to type.
sections() { awk '/^```/ { inside = !inside } !inside && /^## / { name = substr($0, 4) } /^```sh$/ && !seen[name]++ { print name }' "$ST_SRCDIR/docs/$1"; }

@test "every example of policy.md loads, and is decided as it says" {
    [ "$(sections policy.md | wc -l)" -ge 9 ]
    while read -r section; do
        echo "$section"
        type_section policy.md "$section"
    done < <(sections policy.md)
}

# ---- operations.md -------------------------------------------------------------------------------------

runtime_there() { there sandtrace-runtime --root "$WORLD/root" "$@"; }

# run_there NAME SCRIPT: a container of that very ID to its end; start_there: in the background.
make_there() {
    make_container "$1" sh -c "$2"
    echo 'root:*:1:' >"$(bundle_of "$1")/rootfs/etc/shadow"
}

start_there() {
    make_there "$@"
    runtime_there run --detach --bundle "$(bundle_of "$1")" "$1" </dev/null >"$NOTES/$1.log" 2>&1 || { cat "$NOTES/$1.log" >&2; return 1; }
}

# A trace that has ended.
older_trace() {
    make_there older 'for i in $(seq 100); do cat /etc/passwd >/workspace/$i; done'
    runtime_there run --bundle "$(bundle_of older)" older </dev/null
    retry_until there sandtrace verify /var/log/sandtrace/older.jsonl
}

# A file system of the traces' own, with room for what is there and a little more.
small_disk() {
    on_machine sh -ec 'mkdir /var/tmp/kept; mv /var/log/sandtrace/* /var/tmp/kept/
        mount -t tmpfs -o "mode=0755,size=$(($(stat -c %s /var/tmp/kept/older.jsonl) / 1024 + 32))k" traces /var/log/sandtrace
        mv /var/tmp/kept/* /var/log/sandtrace/; rmdir /var/tmp/kept'
}

make_room() { on_machine sh -c '! mountpoint -q /var/log/sandtrace || mount -o remount,size=16m /var/log/sandtrace'; }

@test "operations: a container stands still" {
    start_there agent 'cat /etc/shadow >/workspace/copy; echo no >/etc/no; cat /etc/shadow; sleep 1000'
    BEFORE='until sandtrace pending --json | grep -q pau_; do sleep 0.05; done' type_section operations.md "A container stands still"
}

has_a_review() { there sandtrace review list | grep -q '"id":"agent"'; }

@test "operations: a run was quarantined" {
    start_there agent 'echo made >/workspace/made; cat /etc/shadow; sleep 1000'
    retry_until there sh -c 'sandtrace pending | grep -q pau_'
    there sandtrace kill agent
    retry_until has_a_review
    type_section operations.md "A run was quarantined"
}

@test "operations: the disk of the traces is full" {
    older_trace
    small_disk
    start_there agent 'for i in $(seq 80); do cat /etc/passwd >/workspace/$i; done; sleep 1000'
    BEFORE='until sandtrace ps --json | grep -q "$([ -e /var/log/sandtrace/older.jsonl ] && echo stuck || echo watching)"; do sleep 0.05; done' \
        type_section operations.md "The disk of the traces is full"
}

@test "operations: a monitor died" {
    start_there agent 'sleep 1000'
    kill -KILL "$(on_machine jq .worker /run/sandtrace/agent/state.json)"
    retry_until on_machine test ! -e /run/sandtrace/agent/state.json
    type_section operations.md "A monitor died"
}

@test "operations: a container does not start, upgrades, keys, and what a trace proves" {
    older_trace
    start_there agent 'sleep 1000'
    type_section operations.md "A container does not start"
    type_section operations.md "An engine, runc or sandtrace is upgraded"
    type_section operations.md "Is this trace genuine?"
    type_section operations.md "Keys are rotated"
    # What ran meanwhile is signed by the key that it began with.
    runtime_there delete --force agent
    retry_until nobody_is_watched
    there sh -c 'sandtrace verify --key /etc/sandtrace/keys/before-*.pub /var/log/sandtrace/agent.jsonl'
}

@test "operations: every section with a command is typed" {
    for section in $(sections operations.md | tr ' ' _); do
        grep -qF "operations.md \"${section//_/ }\"" "$BATS_TEST_FILENAME"
    done
}

# ---- README.md -----------------------------------------------------------------------------------------

# shown_by DOCUMENT: the commands of its indented blocks, without what is said of them.
shown_by() { sed -n 's/^    \([^ ]\)/\1/p' "$ST_SRCDIR/$1" | sed 's/ *#.*//' | grep -v '^$'; }

@test "README: what is typed once it is installed works, in that order, and each engine forgets it again" {
    on_machine mv /etc/sandtrace/keys /etc/sandtrace/keys-of-others
    shown_by README.md | grep '^sandtrace ' >"$NOTES/typed-of-readme"
    [ "$(wc -l <"$NOTES/typed-of-readme")" -eq 5 ]
    there bash -ev <"$NOTES/typed-of-readme" >"$NOTES/said-of-readme" 2>&1 || { cat "$NOTES/said-of-readme" >&2; false; }
    grep -q 'Containers can be started under watch here' "$NOTES/said-of-readme"
    for engine in docker podman containerd; do there sandtrace install "$engine" --uninstall; done
    on_machine sh -c 'rm -r /etc/sandtrace/keys; mv /etc/sandtrace/keys-of-others /etc/sandtrace/keys'
}

# What builds and fetches would take an hour: quickstart.bats has its steps, build.bats builds and installs, CI runs the check as it is written.
@test "README and CONTRIBUTING show no command that no test knows" {
    local command
    while read -r command; do
        case $command in
        'contrib/quickstart.sh demo' | 'contrib/quickstart.sh check' | 'contrib/quickstart.sh deps') ;; # quickstart.bats
        ./autogen.sh | './configure --prefix='* | 'make && make check && make install' | 'mkdir -p build && cd build && ../configure '*) ;; # build.bats
        'sudo sandtrace run -- COMMAND…') ;;                                                       # run.bats
        'sandtrace '*) ;;                                                                          # above
        *) fail "who runs this? $command" ;;
        esac
    done < <(shown_by README.md; shown_by CONTRIBUTING.md)
    for verb in demo check deps; do grep -q "quickstart $verb" "$ST_SRCDIR/tests/bats/quickstart.bats"; done
}

# In words and in tables commands are shown that are not typed one by one: what they name is there.
@test "documents and manual pages: each verb and option that they show of sandtrace is one" {
    python3 "$load_dir/shown_options.py" "$WORLD/bin/sandtrace" "$ST_SRCDIR"/{README,CONTRIBUTING,NEWS,.agent}.md "$ST_SRCDIR"/docs/*.md \
        "$ST_SRCDIR"/docs/bench/*.md "$ST_SRCDIR"/docs/man/*.scd
}

# ---- getting-started.md --------------------------------------------------------------------------------

@test "getting-started: every section with a command is typed, by run.bats" {
    while read -r section; do
        grep -qF "\"$section\"" "$ST_SRCDIR/tests/bats/run.bats" || fail "$section"
    done < <(sections getting-started.md)
}

# ---- sandbox_security.md -------------------------------------------------------------------------------

@test "sandbox_security: what it shows of a container under watch is so" {
    start_there agent 'sleep 1000'
    type_section sandbox_security.md "Who watches"
}

@test "sandbox_security: each way around is tried by the test that it names" {
    tried=$(sed -n 's/.* | `\(tests[^`]*\)`: \(.*\) |$/\1\t\2/p' "$ST_SRCDIR/docs/sandbox_security.md")
    [ "$(wc -l <<<"$tried")" -ge 20 ]
    [ "$(wc -l <<<"$tried")" -eq "$(sed -n '/^| the way /,/^$/p' "$ST_SRCDIR/docs/sandbox_security.md" | tail -n +3 | grep -c '^|')" ]
    while IFS=$'\t' read -r file name; do
        grep -qF "@test \"$name\"" "$ST_SRCDIR/$file" || fail "$file has no test '$name'"
    done <<<"$tried"
}

@test "documents: every link between them leads somewhere" {
    for document in README.md .agent.md CONTRIBUTING.md NEWS.md $(cd "$ST_SRCDIR" && echo docs/*.md docs/bench/*.md); do
        dir=$(dirname "$ST_SRCDIR/$document")
        while read -r link; do
            [ -e "$dir/$link" ] || fail "$document: $link"
        done < <(grep -o '](\([^)#:]*\)' "$ST_SRCDIR/$document" | cut -c 3-)
    done
}
