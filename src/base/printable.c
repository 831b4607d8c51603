/* printable: see printable.h. */
#include "base/printable.h"

#include "base/json_write.h"

bool st_acts_on_terminal(const unsigned char *s, size_t len)
{
    if (len == 1)
        return s[0] < 0x20 || s[0] == 0x7f;
    /* C1 controls; the Arabic letter mark, which turns the direction as those below do. */
    if (len == 2)
        return (s[0] == 0xc2 && s[1] < 0xa0) || (s[0] == 0xd8 && s[1] == 0x9c);
    /* Byte order mark, interlinear annotation. */
    if (len == 3 && s[0] == 0xef)
        return (s[1] == 0xbb && s[2] == 0xbf) || (s[1] == 0xbf && s[2] >= 0xb9 && s[2] <= 0xbb);
    if (len == 3 && s[0] == 0xe2)
        return (s[1] == 0x80 && s[2] >= 0x8b && s[2] <= 0x8f) ||
               (s[1] == 0x80 && s[2] >= 0xa8 && s[2] <= 0xae) ||
               (s[1] == 0x81 && s[2] >= 0xa0 && s[2] <= 0xaf);
    return false;
}

void st_add_printable(struct st_buf *out, const char *s, size_t n)
{
    const unsigned char *u = (const unsigned char *)s;

    while (n) {
        size_t len = st_utf8_len(u, n);

        if (len && !st_acts_on_terminal(u, len)) {
            st_buf_add(out, u, len);
        } else {
            len = len ? len : 1;
            for (size_t i = 0; i < len; i++)
                st_buf_addf(out, "\\x%02x", u[i]);
        }
        u += len;
        n -= len;
    }
}
