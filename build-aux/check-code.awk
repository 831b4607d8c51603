# check-code: reads C sources as text and reports what CONTRIBUTING.md forbids and no compiler says:
# banned calls, an unchecked write, global state, functions over 70 lines, files over 500 lines.
#
#   awk -f check-code.awk FILE…       exit 1 when anything but a warning was reported
#
# Comments and strings are blanked first. A function begins with `{` and ends with `}` in column 1,
# which clang-format sees to.

function report(text)
{
    print FILENAME ":" FNR ": " text
    bad = 1
}

# What remains of a line without comments and the content of strings; keeps state over lines.
function code_of(line,    out, two)
{
    out = ""
    while (line != "") {
        if (in_comment) {
            if (!match(line, /\*\//))
                return out
            line = substr(line, RSTART + 2)
            in_comment = 0
            continue
        }
        if (!match(line, /\/\*|\/\/|"|'/))
            return out line
        out = out substr(line, 1, RSTART - 1)
        two = substr(line, RSTART, 2)
        line = substr(line, RSTART)
        if (two == "/*") {
            in_comment = 1
            line = substr(line, 3)
        } else if (two == "//") {
            return out
        } else if (match(line, /^"([^"\\]|\\.)*"/) || match(line, /^'([^'\\]|\\.)*'/)) {
            out = out substr(line, 1, 1) substr(line, 1, 1)
            line = substr(line, RLENGTH + 1)
        } else {
            return out
        }
    }
    return out
}

function warn(text)
{
    print FILENAME ":" FNR ": warning: " text
}

function end_of_file()
{
    if (lines > 500)
        print file ": warning: " lines " lines; a file of one idea has fewer than 500"
}

FNR == 1 {
    if (file != "")
        end_of_file()
    file = FILENAME
    in_comment = in_function = 0
    before = ";"
    is_test = FILENAME ~ /(^|\/)tests\//
}

{
    lines = FNR
    code = code_of($0)
    sub(/[ \t]+$/, "", code)
}

code ~ /(^|[^A-Za-z0-9_])(sprintf|vsprintf|strcpy|strcat|system|popen|alloca|gets|strtok)[ \t]*\(/ {
    match(code, /(sprintf|vsprintf|strcpy|strcat|system|popen|alloca|gets|strtok)[ \t]*\(/)
    call = substr(code, RSTART, RLENGTH)
    sub(/[ \t]*\($/, "", call)
    report("banned call: " call " (CONTRIBUTING.md)")
}

# A statement that begins with write( throws its result away; one that goes on from the line before does not.
# Where there really is nothing to be done, (void)! and the reason behind it on the line say so.
!($0 ~ /\(void\)!write.*\/\* .* \*\/$/) && code ~ /^[ \t]*(\(void\)[ \t]*!?[ \t]*)?(write|pwrite|writev|pwritev|pwritev2)[ \t]*\(/ && before ~ /([;{})]|else|do)$/ {
    report("unchecked write: use st_write_all, look at the result, or say why nobody does: (void)!write(…); /* why */")
}

!is_test && code ~ /^extern / && code !~ /const / && code !~ /\(/ {
    report("extern variable: state belongs to one struct that main owns")
}

!is_test && code ~ /^[ \t]*static / && code !~ /(const|_Thread_local) / && code !~ /\(/ && code ~ /[;={]$|=/ {
    report("mutable static: state belongs to one struct that main owns")
}

/^\{/ {
    in_function = FNR
}

/^\}/ {
    if (in_function && FNR - in_function > 70) {
        # A test may be one long table.
        if (is_test)
            warn("function of " (FNR - in_function) " lines")
        else
            report("function of " (FNR - in_function) " lines; 70 is the limit")
    }
    in_function = 0
}

code != "" {
    before = code
}

END {
    if (file != "")
        end_of_file()
    exit bad
}
