# What a container's program tries, for tests/bats: static, so that it runs in any root.
check_PROGRAMS += %D%/attack
tests_attack_attack_SOURCES = %D%/attack.c %D%/bypass.c %D%/bypass.h %D%/calls.c %D%/calls.h %D%/reach.c %D%/reach.h
tests_attack_attack_CPPFLAGS = $(AM_CPPFLAGS)
tests_attack_attack_CFLAGS = -O1 -g -pthread -fno-pie -fno-sanitize=all
tests_attack_attack_LDFLAGS = -static -no-pie -pthread -fno-sanitize=all

# The same for the network.
check_PROGRAMS += %D%/net
tests_attack_net_SOURCES = %D%/net.c %D%/net.h %D%/net_dns.c %D%/net_hello.c %D%/net_raw.c
tests_attack_net_CFLAGS = $(tests_attack_attack_CFLAGS)
tests_attack_net_LDFLAGS = $(tests_attack_attack_LDFLAGS)

# Ways to begin a process.
check_PROGRAMS += %D%/forks
tests_attack_forks_SOURCES = %D%/forks.c
tests_attack_forks_CFLAGS = $(tests_attack_attack_CFLAGS)
tests_attack_forks_LDFLAGS = $(tests_attack_attack_LDFLAGS)

# Ways to execute a file.
check_PROGRAMS += %D%/execs
tests_attack_execs_SOURCES = %D%/execs.c
tests_attack_execs_CPPFLAGS = $(AM_CPPFLAGS)
tests_attack_execs_CFLAGS = $(tests_attack_attack_CFLAGS)
tests_attack_execs_LDFLAGS = $(tests_attack_attack_LDFLAGS)
check_PROGRAMS += %D%/ask
tests_attack_ask_SOURCES = %D%/ask.c
tests_attack_ask_CFLAGS = $(tests_attack_attack_CFLAGS)
tests_attack_ask_LDFLAGS = $(tests_attack_attack_LDFLAGS)

check_PROGRAMS += %D%/marker %D%/storm
tests_attack_marker_SOURCES = %D%/marker.c
tests_attack_marker_CFLAGS = $(tests_attack_attack_CFLAGS)
tests_attack_marker_LDFLAGS = $(tests_attack_attack_LDFLAGS)
tests_attack_storm_SOURCES = %D%/storm.c
tests_attack_storm_CFLAGS = $(tests_attack_attack_CFLAGS)
tests_attack_storm_LDFLAGS = $(tests_attack_attack_LDFLAGS)

check_PROGRAMS += %D%/hunt
tests_attack_hunt_SOURCES = %D%/hunt.c
tests_attack_hunt_CFLAGS = $(tests_attack_attack_CFLAGS)
tests_attack_hunt_LDFLAGS = $(tests_attack_attack_LDFLAGS)

# The monitor, with places at which it can be told to die: what is compiled here stands before libmonitor's.
check_PROGRAMS += %D%/monitor-with-faults
tests_attack_monitor_with_faults_SOURCES = %D%/fault.c src/monitor/main.c src/monitor/no_nss.c src/monitor/pipeline.c src/monitor/files_told.c \
	src/monitor/pipeline_decide.c
tests_attack_monitor_with_faults_CPPFLAGS = $(AM_CPPFLAGS) -DST_FAULTS
tests_attack_monitor_with_faults_LDFLAGS = $(sandtrace_monitor_LDFLAGS)
tests_attack_monitor_with_faults_LDADD = $(sandtrace_monitor_LDADD)
