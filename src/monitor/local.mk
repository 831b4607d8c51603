# L4: where everything meets; main.c is L5.
noinst_LIBRARIES += libmonitor.a
libmonitor_a_SOURCES = \
	%D%/answer.c %D%/answer.h \
	%D%/answers.c %D%/answers.h \
	%D%/answers_change.c \
	%D%/answers_engine.c \
	%D%/answers_listen.c \
	%D%/askings.c %D%/askings.h \
	%D%/boundary.c %D%/boundary.h \
	%D%/bus.c %D%/bus.h \
	%D%/busdir.c %D%/busdir.h \
	%D%/commission.c %D%/commission.h \
	%D%/confine.c %D%/confine.h \
	%D%/control.c %D%/control.h \
	%D%/depth.c %D%/depth.h \
	%D%/dial.c %D%/dial.h \
	%D%/engines.c %D%/engines.h \
	%D%/enlist.c %D%/enlist.h \
	%D%/entrance.c %D%/entrance.h \
	%D%/errand.c %D%/errand.h \
	%D%/execs.c %D%/execs.h \
	%D%/fault.h \
	%D%/files.c %D%/files.h \
	%D%/files_told.c \
	%D%/forks.c %D%/forks.h \
	%D%/grants.c %D%/grants.h \
	%D%/guards.c %D%/guards.h \
	%D%/hands.c %D%/hands.h \
	%D%/hashes.c %D%/hashes.h \
	%D%/home.c %D%/home.h \
	%D%/inquiry.h \
	%D%/keeper.c %D%/keeper.h \
	%D%/kept.c %D%/kept.h \
	%D%/late.c %D%/late.h \
	%D%/launch.c %D%/launch.h \
	%D%/leftover.c %D%/leftover.h \
	%D%/link.c %D%/link.h \
	%D%/loop.c %D%/loop.h \
	%D%/made.c %D%/made.h \
	%D%/memfd.c %D%/memfd.h \
	%D%/mutations.c %D%/mutations.h \
	%D%/netkernel.c %D%/netkernel.h \
	%D%/netshare.c %D%/netshare.h \
	%D%/netgroup.c %D%/netgroup.h \
	%D%/network.c %D%/network.h %D%/network_private.h \
	%D%/network_bytes.c \
	%D%/network_callers.c \
	%D%/network_dns.c \
	%D%/network_end.c \
	%D%/network_flow.c \
	%D%/network_host.c \
	%D%/network_log.c \
	%D%/network_name.c \
	%D%/network_open.c \
	%D%/network_outside.c \
	%D%/news.c %D%/news.h \
	%D%/opened.c %D%/opened.h \
	%D%/order.c %D%/order.h \
	%D%/order_write.c %D%/order_write.h \
	%D%/outbox.c %D%/outbox.h \
	%D%/operation.h \
	%D%/outpost.c %D%/outpost.h \
	%D%/pauses.c %D%/pauses.h \
	%D%/peer.c %D%/peer.h \
	%D%/performers.c %D%/performers.h \
	%D%/perform.c \
	%D%/pins.c %D%/pins.h \
	%D%/pipeline.c %D%/pipeline.h %D%/pipeline_private.h \
	%D%/pipeline_decide.c \
	%D%/quarantine.c %D%/quarantine.h \
	%D%/reach.c %D%/reach.h \
	%D%/restless.c %D%/restless.h \
	%D%/process_pace.c %D%/process_pace.h \
	%D%/processes.c %D%/processes.h \
	%D%/record.c %D%/record.h \
	%D%/ring.c %D%/ring.h \
	%D%/scout.c %D%/scout.h \
	%D%/sealed.c %D%/sealed.h \
	%D%/snapshot.h \
	%D%/snapshots.c %D%/snapshots.h \
	%D%/standby.c %D%/standby.h \
	%D%/standstill.c %D%/standstill.h \
	%D%/statefile.c %D%/statefile.h \
	%D%/summary.c %D%/summary.h \
	%D%/syscalls.c %D%/syscalls.h \
	%D%/teller.c %D%/teller.h \
	%D%/teller_main.c \
	%D%/warden.c %D%/warden.h \
	%D%/watch.c %D%/watch.h \
	%D%/worker.c %D%/worker.h \
	%D%/worker_eager.c \
	%D%/worker_meet.c \
	%D%/worker_private.h \
	%D%/worker_start.c \
	%D%/worker_warden.c
libmonitor_a_CPPFLAGS = $(AM_CPPFLAGS) $(SECCOMP_CFLAGS) $(CAPNG_CFLAGS)

pkglibexec_PROGRAMS += sandtrace-monitor
sandtrace_monitor_SOURCES = %D%/main.c %D%/no_nss.c
sandtrace_monitor_LDFLAGS = $(AM_LDFLAGS) $(ST_MONITOR_LDFLAGS)
sandtrace_monitor_LDADD = libmonitor.a libsensors.a libsensorsnf.a libsensorsnet.a librespond.a libaudit.a libpolicy.a \
	libmodel.a libbase.a $(ST_ARCHIVES_ON) $(BASE_LIBS) $(SODIUM_LIBS) $(SECCOMP_LIBS) $(CAPNG_LIBS) $(ST_ARCHIVES_OFF) \
	$(NETFILTER_LIBS)
