# What a container's program tries, for tests/bats: static, so that it runs in any root.
check_PROGRAMS += %D%/attack
tests_attack_attack_SOURCES = %D%/attack.c %D%/bypass.c %D%/bypass.h %D%/calls.c %D%/calls.h %D%/reach.c %D%/reach.h
tests_attack_attack_CPPFLAGS = $(AM_CPPFLAGS)
tests_attack_attack_CFLAGS = -O1 -g -pthread -fno-pie -fno-sanitize=all
tests_attack_attack_LDFLAGS = -static -no-pie -pthread -fno-sanitize=all
