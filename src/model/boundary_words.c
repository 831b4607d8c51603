/* boundary_words: how the arguments of boundary syscalls are called. Values are the
 * kernel's own, which never change; they are numbers here because headers of the build may lack some. */
#include "model/boundary.h"

#define END                                                                                                  \
    {                                                                                                        \
        0, NULL                                                                                              \
    }

static const struct st_word ptrace_words[] = {{0, "traceme"},
                                              {1, "peektext"},
                                              {2, "peekdata"},
                                              {3, "peekuser"},
                                              {4, "poketext"},
                                              {5, "pokedata"},
                                              {6, "pokeuser"},
                                              {7, "cont"},
                                              {8, "kill"},
                                              {9, "singlestep"},
                                              {12, "getregs"},
                                              {13, "setregs"},
                                              {14, "getfpregs"},
                                              {15, "setfpregs"},
                                              {16, "attach"},
                                              {17, "detach"},
                                              {24, "syscall"},
                                              {0x4200, "setoptions"},
                                              {0x4201, "geteventmsg"},
                                              {0x4202, "getsiginfo"},
                                              {0x4203, "setsiginfo"},
                                              {0x4204, "getregset"},
                                              {0x4205, "setregset"},
                                              {0x4206, "seize"},
                                              {0x4207, "interrupt"},
                                              {0x4208, "listen"},
                                              {0x4209, "peeksiginfo"},
                                              {0x420a, "getsigmask"},
                                              {0x420b, "setsigmask"},
                                              {0x420c, "seccomp_get_filter"},
                                              {0x420d, "seccomp_get_metadata"},
                                              {0x420e, "get_syscall_info"},
                                              {0x420f, "get_rseq_configuration"},
                                              END};

static const struct st_word mount_words[] = {{1, "ro"},
                                             {2, "nosuid"},
                                             {4, "nodev"},
                                             {8, "noexec"},
                                             {16, "sync"},
                                             {32, "remount"},
                                             {64, "mand"},
                                             {128, "dirsync"},
                                             {256, "nosymfollow"},
                                             {1024, "noatime"},
                                             {2048, "nodiratime"},
                                             {4096, "bind"},
                                             {8192, "move"},
                                             {16384, "rec"},
                                             {32768, "silent"},
                                             {1 << 16, "posixacl"},
                                             {1 << 17, "unbindable"},
                                             {1 << 18, "private"},
                                             {1 << 19, "slave"},
                                             {1 << 20, "shared"},
                                             {1 << 21, "relatime"},
                                             {1 << 23, "i_version"},
                                             {1 << 24, "strictatime"},
                                             {1 << 25, "lazytime"},
                                             END};

static const struct st_word umount_words[] = {
    {1, "force"}, {2, "detach"}, {4, "expire"}, {8, "nofollow"}, END};

static const struct st_word at_words[] = {
    {0x100, "symlink_nofollow"}, {0x200, "fid"},        {0x400, "symlink_follow"}, {0x800, "no_automount"},
    {0x1000, "empty_path"},      {0x8000, "recursive"}, {0x10000, "execve_check"}, END};

/* How large a page of a huge one is to be stands above these, as a number. */
static const struct st_word memfd_words[] = {{1, "cloexec"},     {2, "allow_sealing"}, {4, "hugetlb"},
                                             {8, "noexec_seal"}, {0x10, "exec"},       END};

static const struct st_word open_tree_words[] = {
    {1, "clone"},           {2, "namespace"},      {0x100, "symlink_nofollow"}, {0x800, "no_automount"},
    {0x1000, "empty_path"}, {0x8000, "recursive"}, {02000000, "cloexec"},       END};

static const struct st_word move_mount_words[] = {
    {1, "from_symlinks"},  {2, "from_automounts"},  {4, "from_empty_path"},
    {0x10, "to_symlinks"}, {0x20, "to_automounts"}, {0x40, "to_empty_path"},
    {0x100, "set_group"},  {0x200, "beneath"},      END};

static const struct st_word fsconfig_words[] = {
    {0, "set_flag"}, {1, "set_string"}, {2, "set_binary"},  {3, "set_path"},    {4, "set_path_empty"},
    {5, "set_fd"},   {6, "create"},     {7, "reconfigure"}, {8, "create_excl"}, END};

static const struct st_word fsmount_attr_words[] = {{1, "ro"},
                                                    {2, "nosuid"},
                                                    {4, "nodev"},
                                                    {8, "noexec"},
                                                    {0x10, "noatime"},
                                                    {0x20, "strictatime"},
                                                    {0x80, "nodiratime"},
                                                    {0x100000, "idmap"},
                                                    {0x200000, "nosymfollow"},
                                                    END};

static const struct st_word clone_words[] = {{0x80, "newtime"},
                                             {0x100, "vm"},
                                             {0x200, "fs"},
                                             {0x400, "files"},
                                             {0x800, "sighand"},
                                             {0x1000, "pidfd"},
                                             {0x2000, "ptrace"},
                                             {0x4000, "vfork"},
                                             {0x8000, "parent"},
                                             {0x10000, "thread"},
                                             {0x20000, "newns"},
                                             {0x40000, "sysvsem"},
                                             {0x80000, "settls"},
                                             {0x100000, "parent_settid"},
                                             {0x200000, "child_cleartid"},
                                             {0x400000, "detached"},
                                             {0x800000, "untraced"},
                                             {0x1000000, "child_settid"},
                                             {0x2000000, "newcgroup"},
                                             {0x4000000, "newuts"},
                                             {0x8000000, "newipc"},
                                             {0x10000000, "newuser"},
                                             {0x20000000, "newpid"},
                                             {0x40000000, "newnet"},
                                             {0x80000000, "io"},
                                             END};

static const struct st_word bpf_cmd_words[] = {{0, "map_create"},
                                               {1, "map_lookup_elem"},
                                               {2, "map_update_elem"},
                                               {3, "map_delete_elem"},
                                               {4, "map_get_next_key"},
                                               {5, "prog_load"},
                                               {6, "obj_pin"},
                                               {7, "obj_get"},
                                               {8, "prog_attach"},
                                               {9, "prog_detach"},
                                               {10, "prog_test_run"},
                                               {11, "prog_get_next_id"},
                                               {12, "map_get_next_id"},
                                               {13, "prog_get_fd_by_id"},
                                               {14, "map_get_fd_by_id"},
                                               {15, "obj_get_info_by_fd"},
                                               {16, "prog_query"},
                                               {17, "raw_tracepoint_open"},
                                               {18, "btf_load"},
                                               {19, "btf_get_fd_by_id"},
                                               {20, "task_fd_query"},
                                               {21, "map_lookup_and_delete_elem"},
                                               {22, "map_freeze"},
                                               {23, "btf_get_next_id"},
                                               {24, "map_lookup_batch"},
                                               {25, "map_lookup_and_delete_batch"},
                                               {26, "map_update_batch"},
                                               {27, "map_delete_batch"},
                                               {28, "link_create"},
                                               {29, "link_update"},
                                               {30, "link_get_fd_by_id"},
                                               {31, "link_get_next_id"},
                                               {32, "enable_stats"},
                                               {33, "iter_create"},
                                               {34, "link_detach"},
                                               {35, "prog_bind_map"},
                                               {36, "token_create"},
                                               END};

static const struct st_word perf_type_words[] = {
    {0, "hardware"}, {1, "software"}, {2, "tracepoint"}, {3, "hw_cache"}, {4, "raw"}, {5, "breakpoint"}, END};

static const struct st_word keyctl_words[] = {{0, "get_keyring_id"},
                                              {1, "join_session_keyring"},
                                              {2, "update"},
                                              {3, "revoke"},
                                              {4, "chown"},
                                              {5, "setperm"},
                                              {6, "describe"},
                                              {7, "clear"},
                                              {8, "link"},
                                              {9, "unlink"},
                                              {10, "search"},
                                              {11, "read"},
                                              {12, "instantiate"},
                                              {13, "negate"},
                                              {14, "set_reqkey_keyring"},
                                              {15, "set_timeout"},
                                              {16, "assume_authority"},
                                              {17, "get_security"},
                                              {18, "session_to_parent"},
                                              {19, "reject"},
                                              {20, "instantiate_iov"},
                                              {21, "invalidate"},
                                              {22, "get_persistent"},
                                              {23, "dh_compute"},
                                              {24, "pkey_query"},
                                              {25, "pkey_encrypt"},
                                              {26, "pkey_decrypt"},
                                              {27, "pkey_sign"},
                                              {28, "pkey_verify"},
                                              {29, "restrict_keyring"},
                                              {30, "move"},
                                              {31, "capabilities"},
                                              {32, "watch_key"},
                                              END};

static const struct st_word family_words[] = {{0, "unspec"},
                                              {1, "unix"},
                                              {2, "inet"},
                                              {3, "ax25"},
                                              {4, "ipx"},
                                              {5, "appletalk"},
                                              {6, "netrom"},
                                              {7, "bridge"},
                                              {8, "atmpvc"},
                                              {9, "x25"},
                                              {10, "inet6"},
                                              {11, "rose"},
                                              {12, "decnet"},
                                              {13, "netbeui"},
                                              {14, "security"},
                                              {15, "key"},
                                              {16, "netlink"},
                                              {17, "packet"},
                                              {18, "ash"},
                                              {19, "econet"},
                                              {20, "atmsvc"},
                                              {21, "rds"},
                                              {22, "sna"},
                                              {23, "irda"},
                                              {24, "pppox"},
                                              {25, "wanpipe"},
                                              {26, "llc"},
                                              {27, "ib"},
                                              {28, "mpls"},
                                              {29, "can"},
                                              {30, "tipc"},
                                              {31, "bluetooth"},
                                              {32, "iucv"},
                                              {33, "rxrpc"},
                                              {34, "isdn"},
                                              {35, "phonet"},
                                              {36, "ieee802154"},
                                              {37, "caif"},
                                              {38, "alg"},
                                              {39, "nfc"},
                                              {40, "vsock"},
                                              {41, "kcm"},
                                              {42, "qipcrtr"},
                                              {43, "smc"},
                                              {44, "xdp"},
                                              {45, "mctp"},
                                              END};

static const struct st_word sock_type_words[] = {{1, "stream"},    {2, "dgram"}, {3, "raw"},     {4, "rdm"},
                                                 {5, "seqpacket"}, {6, "dccp"},  {10, "packet"}, END};

static const struct st_word quota_words[] = {{0x800001, "sync"},         {0x800002, "quotaon"},
                                             {0x800003, "quotaoff"},     {0x800004, "getfmt"},
                                             {0x800005, "getinfo"},      {0x800006, "setinfo"},
                                             {0x800007, "getquota"},     {0x800008, "setquota"},
                                             {0x800009, "getnextquota"}, END};

static const struct st_word reboot_words[] = {
    {0x01234567, "restart"}, {0xcdef0123, "halt"},      {0x89abcdef, "cad_on"},
    {0, "cad_off"},          {0x4321fedc, "power_off"}, {0xa1b2c3d4, "restart2"},
    {0xd000fce2, "suspend"}, {0x45584543, "kexec"},     END};

static const struct st_word clock_words[] = {
    {0, "realtime"},         {1, "monotonic"},     {2, "process_cputime"},
    {3, "thread_cputime"},   {4, "monotonic_raw"}, {5, "realtime_coarse"},
    {6, "monotonic_coarse"}, {7, "boottime"},      {8, "realtime_alarm"},
    {9, "boottime_alarm"},   {11, "tai"},          END};

static const struct st_word timex_words[] = {{1, "offset"},
                                             {2, "frequency"},
                                             {4, "maxerror"},
                                             {8, "esterror"},
                                             {0x10, "status"},
                                             {0x20, "timeconst"},
                                             {0x80, "tai"},
                                             {0x100, "setoffset"},
                                             {0x1000, "micro"},
                                             {0x2000, "nano"},
                                             {0x4000, "tick"},
                                             {0x8000, "adjtime"},
                                             END};

static const struct st_word syslog_words[] = {{0, "close"},       {1, "open"},         {2, "read"},
                                              {3, "read_all"},    {4, "read_clear"},   {5, "clear"},
                                              {6, "console_off"}, {7, "console_on"},   {8, "console_level"},
                                              {9, "size_unread"}, {10, "size_buffer"}, END};

static const struct st_word personality_words[] = {{0x20000, "uname26"},
                                                   {0x40000, "addr_no_randomize"},
                                                   {0x80000, "fdpic_funcptrs"},
                                                   {0x100000, "mmap_page_zero"},
                                                   {0x200000, "addr_compat_layout"},
                                                   {0x400000, "read_implies_exec"},
                                                   {0x800000, "addr_limit_32bit"},
                                                   {0x1000000, "short_inode"},
                                                   {0x2000000, "whole_seconds"},
                                                   {0x4000000, "sticky_timeouts"},
                                                   {0x8000000, "addr_limit_3gb"},
                                                   {8, "linux32"},
                                                   END};

static const struct st_word kcmp_words[] = {{0, "file"},    {1, "vm"},        {2, "files"},
                                            {3, "fs"},      {4, "sighand"},   {5, "io"},
                                            {6, "sysvsem"}, {7, "epoll_tfd"}, END};

static const struct st_word open_words[] = {{1, "wronly"},         {2, "rdwr"},         {0100, "creat"},
                                            {01000, "trunc"},      {02000, "append"},   {04000, "nonblock"},
                                            {02000000, "cloexec"}, {010000000, "path"}, END};

static const struct st_word module_words[] = {
    {1, "ignore_modversions"}, {2, "ignore_vermagic"}, {4, "compressed"}, END};

static const struct st_word fanotify_words[] = {{1, "cloexec"},
                                                {2, "nonblock"},
                                                {4, "class_content"},
                                                {8, "class_pre_content"},
                                                {0x10, "unlimited_queue"},
                                                {0x20, "unlimited_marks"},
                                                {0x40, "enable_audit"},
                                                {0x80, "report_pidfd"},
                                                {0x100, "report_tid"},
                                                {0x200, "report_fid"},
                                                {0x400, "report_dir_fid"},
                                                {0x800, "report_name"},
                                                {0x1000, "report_target_fid"},
                                                END};

static const struct st_word userfault_words[] = {
    {1, "user_mode_only"}, {04000, "nonblock"}, {02000000, "cloexec"}, END};

/* Of a netlink socket. */
static const struct st_word route_words[] = {{0, "route"},
                                             {2, "usersock"},
                                             {4, "sock_diag"},
                                             {6, "xfrm"},
                                             {7, "selinux"},
                                             {9, "audit"},
                                             {10, "fib_lookup"},
                                             {11, "connector"},
                                             {12, "netfilter"},
                                             {15, "kobject_uevent"},
                                             {16, "generic"},
                                             {21, "crypto"},
                                             END};

static const struct st_word *const tables[] = {
    [ST_WORDS_PTRACE] = ptrace_words,       [ST_WORDS_MOUNT] = mount_words,
    [ST_WORDS_UMOUNT] = umount_words,       [ST_WORDS_AT] = at_words,
    [ST_WORDS_OPEN_TREE] = open_tree_words, [ST_WORDS_MOVE_MOUNT] = move_mount_words,
    [ST_WORDS_FSCONFIG] = fsconfig_words,   [ST_WORDS_FSMOUNT_ATTR] = fsmount_attr_words,
    [ST_WORDS_CLONE] = clone_words,         [ST_WORDS_BPF_CMD] = bpf_cmd_words,
    [ST_WORDS_PERF_TYPE] = perf_type_words, [ST_WORDS_KEYCTL] = keyctl_words,
    [ST_WORDS_FAMILY] = family_words,       [ST_WORDS_SOCK_TYPE] = sock_type_words,
    [ST_WORDS_QUOTA] = quota_words,         [ST_WORDS_REBOOT] = reboot_words,
    [ST_WORDS_CLOCK] = clock_words,         [ST_WORDS_TIMEX] = timex_words,
    [ST_WORDS_SYSLOG] = syslog_words,       [ST_WORDS_PERSONALITY] = personality_words,
    [ST_WORDS_KCMP] = kcmp_words,           [ST_WORDS_OPEN] = open_words,
    [ST_WORDS_MODULE] = module_words,       [ST_WORDS_FANOTIFY] = fanotify_words,
    [ST_WORDS_USERFAULT] = userfault_words, [ST_WORDS_ROUTE] = route_words,
    [ST_WORDS_MEMFD] = memfd_words,
};

const struct st_word *st_words(enum st_words which)
{
    return which > ST_WORDS_NONE && which < ST_WORDS_ALL ? tables[which] : NULL;
}

const char *st_word_of(enum st_words which, uint64_t value)
{
    for (const struct st_word *w = st_words(which); w && w->name; w++)
        if (w->value == value)
            return w->name;
    return NULL;
}
