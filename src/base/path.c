/* path: see path.h. */
#include "base/path.h"

#include <string.h>

const char *st_path_fault(const char *path)
{
    if (path[0] != '/')
        return "write an absolute path";
    if (strlen(path) > ST_PATH_LIMIT)
        return "write a path of at most 1024 bytes";
    for (const char *part = path; part; part = strchr(part + 1, '/'))
        if (strncmp(part, "/..", 3) == 0 && (part[3] == '/' || part[3] == '\0'))
            return "write the path without '..'";
    for (const char *c = path; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            return "write a path without control characters";
    return NULL;
}

static bool is_dots(const char *s, size_t n)
{
    return (n == 1 && s[0] == '.') || (n == 2 && s[0] == '.' && s[1] == '.');
}

bool st_path_is_normal(const char *path, size_t len)
{
    const char *s = path, *end = path + len;

    if (len == 0 || path[0] != '/')
        return false;
    if (len == 1)
        return true;
    while (s < end) {
        const char *name = s + 1, *slash = memchr(name, '/', (size_t)(end - name));

        s = slash ? slash : end;
        if (s == name || is_dots(name, (size_t)(s - name)))
            return false;
    }
    return true;
}

size_t st_path_normalise(const char *path, size_t len, char *out, size_t size)
{
    const char *s = path, *end = path + len;
    size_t used = 0;

    if (len == 0 || path[0] != '/' || len >= size)
        return 0;
    while (s < end) {
        const char *name = s + 1, *slash = memchr(name, '/', (size_t)(end - name));
        size_t n;

        s = slash ? slash : end;
        n = (size_t)(s - name);
        if (n == 2 && name[0] == '.' && name[1] == '.') {
            while (used > 0 && out[--used] != '/')
                ;
        } else if (n > 0 && !is_dots(name, n)) {
            out[used++] = '/';
            memcpy(out + used, name, n);
            used += n;
        }
    }
    if (used == 0)
        out[used++] = '/';
    out[used] = '\0';
    return used;
}
