/* nothing: the least that a runtime in front of another, with a hook, can be: what bench-start compares with.
 *
 *   nothing RUNTIME ARGUMENT…     becomes the runtime
 *   nothing                       as a hook: ends */
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 2)
        return 0;
    execv(argv[1], argv + 1);
    return 127;
}
