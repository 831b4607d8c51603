#!/usr/bin/env bats
# An agent at work under the shipped policies: shells, git, python, node and
# compilers of this machine's own system do their work, and what is guarded is
# guarded.
# shellcheck disable=SC2016 # scripts that run in the container
bats_require_minimum_version 1.5.0
load lib/world
load lib/container

setup_file() {
    require git=git python3=python3 node=nodejs npm=npm gcc=gcc dpkg=dpkg pip3=python3-pip
    make_world
}

teardown_file() {
    remove_all_containers || true
    end_world
}

setup() { remember_what_is_there; }

teardown() {
    remove_all_containers
    nothing_left_behind
}

# make_machine SCRIPT: a container with this machine's own programs in it.
make_machine() {
    local root link
    make_container box bash -ec "$1"
    root=$(bundle_of box)/rootfs
    rm -rf "${root:?}"/{bin,usr}
    mkdir -p "$root"/usr "$root"/etc/{alternatives,ssl}
    for link in bin sbin lib lib64; do ln -s "usr/$link" "$root/$link"; done
    cp -a /etc/alternatives/. "$root/etc/alternatives/"
    cp -a /etc/{ld.so.cache,nsswitch.conf,passwd,group} "$root/etc/"
    echo 'root:secret' >"$root/etc/shadow"
    edit_config "$(bundle_of box)" '.mounts += [{destination: "/usr", type: "bind", source: "/usr", options: ["rbind", "ro"]}] |
        .process.cwd = "/workspace" | .process.env = ["PATH=/usr/bin:/usr/sbin", "HOME=/tmp", "LC_ALL=C"]'
}

# run_machine POLICY SCRIPT: under that policy to its end; what it prints is in $output.
run_machine() {
    configure default_policy "$1"
    make_machine "$2"
    run runtime run --bundle "$(bundle_of box)" "$(id_of box)" </dev/null
    trace_is_complete "$(id_of box)"
    [ "$status" -eq 0 ] || { echo "$output" >&2; refusals >&2; return 1; }
}

refusals() { jq -c 'select(.verdict.result != "allow") | [.payload.op, .payload.access, .payload.path, .payload.name, .verdict.reason]' "$(trace_of "$(id_of box)")"; }

nothing_was_refused() { [ -z "$(refusals)" ] || { refusals >&2; return 1; }; }

work='
    # A shell, its devices and its scratch.
    echo lost >/dev/null; : 2>/dev/null; echo more >>/dev/null; echo x | tee /dev/null >/dev/full 2>&1 || true
    dd if=/dev/urandom of=/dev/null bs=1k count=1 status=none; dd if=/dev/zero of=zeros bs=1k count=1 status=none
    head -c 8 /dev/random | od >/dev/null; cat <<<"here" >/tmp/scratch; cat /proc/self/status /proc/meminfo >/dev/null
    id -un; find . | sort | wc -l >/dev/null; mktemp -d >/dev/null; ls -l / | cat >/dev/null
    # git from nothing to a merge
    git init -q repo; cd repo; git config user.name a; git config user.email a@example.com
    echo one >f; git add f; git commit -qm one; git checkout -qb side; echo two >>f; git commit -qam two
    git checkout -q -; git merge -q side; git stash -q 2>&1 || true; git log --oneline | wc -l; git gc -q; cd ..
    # python
    python3 -c "import json, subprocess, tempfile, os, pty; tempfile.TemporaryFile().write(b\"x\"); open(os.devnull, \"w\").write(\"x\")
print(subprocess.run([\"echo\", \"python\"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode().strip()); pty.openpty()"
    # threads and processes, names and users
    python3 -c "import threading, concurrent.futures as f, multiprocessing as m, os, socket
t = [threading.Thread(target=os.getpid) for _ in range(20)]; [x.start() for x in t]; [x.join() for x in t]
list(f.ThreadPoolExecutor(8).map(abs, range(100))); p = m.Process(target=os.getpid); p.start(); p.join()
os.write(os.memfd_create(\"buffer\"), b\"x\"); os.memfd_create(\"sealed\", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
socket.if_nameindex(); socket.getaddrinfo(\"127.0.0.1\", 80); os.setuid(os.getuid()); os.setgid(os.getgid())"
    # node
    node -e "new (require(\"worker_threads\").Worker)(\"1\", {eval: true}); require(\"os\").networkInterfaces()"
    node -e "require(\"fs\").writeFileSync(\"n\", \"x\"); console.log(require(\"child_process\").execSync(\"echo node\").toString().trim())"
    # a compiler
    echo "int main(void) { return 0; }" >m.c; gcc -O1 -c m.c -o m.o; gcc m.o -o m; ./m; printf "all:\n\t@echo made\n" >Makefile; make -s 2>/dev/null || true
    echo finished'

@test "under agent-default shells, git, python, node and compilers work, and nothing of it is refused" {
    run_machine agent-default "$work"
    [[ $output == *root*2*python*node*finished* ]] || { echo "$output" >&2; false; }
    nothing_was_refused
}

@test "under agent-node, agent-python and ci-build as well" {
    for policy in agent-node agent-python ci-build; do
        run_machine "$policy" "$work"
        [[ $output == *finished* ]]
        nothing_was_refused
        remove_all_containers
    done
}

# Packages of their own making, put in by the managers, without a network.
packages='
    mkdir -p js/bin; echo "{\"name\":\"little\",\"version\":\"1.0.0\",\"bin\":\"bin/little\",\"scripts\":{\"postinstall\":\"echo built >built\"}}" >js/package.json
    printf "#!/usr/bin/env node\nconsole.log(\"npm works\")\n" >js/bin/little; chmod +x js/bin/little
    (cd js && npm pack --silent >/dev/null); mkdir app; cd app; npm init -y >/dev/null
    npm install --offline --no-audit --no-fund --silent ../js/little-1.0.0.tgz; npx --offline little; cd ..
    python3 -c "
import zipfile
with zipfile.ZipFile(\"little-1.0-py3-none-any.whl\", \"w\") as z:
    z.writestr(\"little.py\", \"print(\\\"pip works\\\")\")
    z.writestr(\"little-1.0.dist-info/METADATA\", \"Metadata-Version: 2.1\\nName: little\\nVersion: 1.0\\n\")
    z.writestr(\"little-1.0.dist-info/WHEEL\", \"Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n\")
    z.writestr(\"little-1.0.dist-info/RECORD\", \"\")"
    python3 -m pip install --quiet --no-index --disable-pip-version-check --target site little-1.0-py3-none-any.whl; PYTHONPATH=site python3 -m little
    mkdir -p deb/DEBIAN deb/opt root/var/lib/dpkg/info root/var/lib/dpkg/updates; : >root/var/lib/dpkg/status; echo "dpkg works" >deb/opt/little
    printf "Package: little\nVersion: 1\nArchitecture: all\nMaintainer: t <t@localhost>\nDescription: little\n" >deb/DEBIAN/control
    dpkg-deb --build deb little.deb >/dev/null; dpkg --root=root --log=/dev/null --unpack little.deb >/dev/null; cat root/opt/little
    echo finished'

@test "under agent-default npm, pip and dpkg install what is there, and nothing of it is refused" {
    run_machine agent-default "$packages"
    [[ $output == *'npm works'*'pip works'*'dpkg works'*finished* ]] || { echo "$output" >&2; false; }
    nothing_was_refused
}

@test "under strict a shell starts and works in /workspace" {
    run_machine strict 'echo x >/workspace/f; cat /workspace/f >/dev/null; python3 -c "print(1)"; echo finished'
    [[ $output == *finished* ]]
    nothing_was_refused
}
