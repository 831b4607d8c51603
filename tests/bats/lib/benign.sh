#!/bin/bash
# What an agent does all day, in /workspace, with the programs of the host's /usr: none of it is anybody's
# business. `benign.sh empty` begins in an empty workspace, `benign.sh repository` in one that has a history.
set -eu
export PATH=/usr/bin:/bin HOME=/tmp/home GIT_CONFIG_GLOBAL=/tmp/gitconfig LANG=C
mkdir -p "$HOME"
cd /workspace
git config --global user.name agent
git config --global user.email agent@localhost
git config --global init.defaultBranch main
git config --global safe.directory '*'

begin_a_project() {
    git init -q .
    echo hello >README
    git add README
    git commit -qm first
    git clone -q . below
    git -C below config user.nickname x # its own: this repository was not there at the start
    echo more >>below/README
    git -C below commit -qam second
    git config core.filemode true
    git gc -q
}

work_in_a_project() {
    git status --short >/tmp/status
    git checkout -q -b topic
    echo change >>file
    git add file
    git commit -qm change
    git checkout -q main
    git merge -q topic
    git branch other # to delete one writes the configuration, which is guarded
    git stash list >/tmp/stash
    git tag v1
    git log --oneline | grep -q change
    git diff HEAD~1 --stat >/tmp/diff
    git worktree add -q /tmp/tree
    git clone -q . clone
}

many_small_files() {
    mkdir -p node_modules
    for package in $(seq 25); do
        mkdir -p "node_modules/p$package/lib" node_modules/.bin
        echo '{}' >"node_modules/p$package/package.json"
        for file in $(seq 8); do echo "module.exports=$file" >"node_modules/p$package/lib/$file.js"; done
        ln -s "../p$package/lib/1.js" "node_modules/.bin/p$package"
    done
    find node_modules -name '*.js' -exec cat {} + >/tmp/bundle.js
    tar -czf tree.tgz node_modules
    mkdir unpacked
    tar -C unpacked -xzf tree.tgz
    mv node_modules node_modules.old
    mv unpacked/node_modules .
    chmod -R u+w node_modules.old
    rm -rf node_modules.old
}

compile() {
    mkdir -p build
    printf '#include <stdio.h>\nint main(void) { puts("built"); return 0; }\n' >build/main.c
    gcc -O1 -o build/main build/main.c
    [ "$(build/main)" = built ]
    ar rcs build/lib.a build/main.c
}

database() {
    sqlite3 data.db 'create table t(a); insert into t values (1), (2); pragma journal_mode=wal; update t set a = a + 1;' >/tmp/sql
    [ "$(sqlite3 data.db 'select sum(a) from t')" = 5 ]
}

serve() {
    /usr/bin/python3 - <<'END'
import http.server, os, socket, tempfile, threading, urllib.request
os.chdir("/workspace")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
names = urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"http://127.0.0.1:{server.server_port}/").read()
assert b"data.db" in names
with tempfile.NamedTemporaryFile() as f:
    f.write(b"x")
s = socket.socket(socket.AF_UNIX); s.bind("/workspace/socket"); s.listen(1)
os.unlink("/workspace/socket")
server.shutdown()
END
}

case $1 in
    empty) begin_a_project ;;
    repository)
        work_in_a_project
        many_small_files
        compile
        database
        serve
        ;;
esac
echo benign
