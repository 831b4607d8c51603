# compile-commands: turns the compile commands that `make -n V=1` prints into compile_commands.json,
# for clang-tidy and for editors.
#
#   make -n V=1 … | awk -v dir=BUILDDIR -v srcdir=SRCDIR -f compile-commands.awk
#
# Left out: what is generated, the dependency options, and warnings that only gcc knows (clang-tidy would stumble over them).

function quoted(text)
{
    gsub(/\\/, "\\\\", text)
    gsub(/"/, "\\\"", text)
    return "\"" text "\""
}

# Automake: a compile command goes on over lines that end in a backslash.
{
    line = so_far $0
    so_far = ""
    if (sub(/\\$/, "", line)) {
        so_far = line
        next
    }
}

line ~ / -c -o [^ ]+\.o / {
    command = line
    sub(/.*;[ \t]*/, "", command)
    sub(/[ \t]*&&.*/, "", command)
    sub(/ -MT .*-MF [^ ]+/, "", command)
    gsub(/ -W(logical-op|duplicated-cond|duplicated-branches)/, "", command)
    if (match(command, /`test -f [^`]*`/))
        command = substr(command, 1, RSTART - 1) srcdir "/" substr(command, RSTART + RLENGTH)
    n = split(command, words, /[ \t]+/)
    file = words[n]
    if (file !~ /\.c$/)
        file = words[n - 1]
    if (seen[file]++)
        next
    if ((getline unused < file) < 0) # generated: nobody wrote it, and it is not among the sources
        next
    close(file)
    print (count++ ? "," : "[")
    printf "{\"directory\": %s, \"file\": %s, \"command\": %s}", quoted(dir), quoted(file), quoted(command)
}

END {
    print (count ? "\n]" : "[]")
    exit count == 0
}
