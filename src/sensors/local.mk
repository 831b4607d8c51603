# L3: where facts come from.
noinst_LIBRARIES += libsensors.a
libsensors_a_SOURCES = \
	%D%/access.c %D%/access.h \
	%D%/boundary_args.c %D%/boundary_args.h \
	%D%/asker.c %D%/asker.h \
	%D%/births.c %D%/births.h \
	%D%/bpf_program.c %D%/bpf_program.h \
	%D%/bpf_ring.c %D%/bpf_ring.h \
	%D%/callers.c %D%/callers.h \
	%D%/change.c %D%/change.h \
	%D%/exposure.c %D%/exposure.h \
	%D%/exec_call.c %D%/exec_call.h \
	%D%/fan.c %D%/fan.h \
	%D%/footings.c %D%/footings.h \
	%D%/guarded.c %D%/guarded.h \
	%D%/lifecycle.c %D%/lifecycle.h \
	%D%/marks.c %D%/marks.h \
	%D%/notify.c %D%/notify.h \
	%D%/notify_filter.c \
	%D%/notify_socket.c %D%/notify_socket.h \
	%D%/own_mounts.c %D%/own_mounts.h \
	%D%/places.c %D%/places.h \
	%D%/process.c %D%/process.h \
	%D%/process_cache.c %D%/process_cache.h \
	%D%/process_stream.c %D%/process_stream.h \
	%D%/program.c %D%/program.h \
	%D%/raw_reply.c %D%/raw_reply.h \
	%D%/request.c %D%/request.h \
	%D%/resolve.c %D%/resolve.h \
	%D%/resolved.c \
	%D%/runtime_copy.c %D%/runtime_copy.h \
	%D%/sock_end.c %D%/sock_end.h \
	%D%/sock_find.c %D%/sock_find.h \
	%D%/sock_owner.c %D%/sock_owner.h \
	%D%/sock_text.c %D%/sock_text.h \
	%D%/tree.c %D%/tree.h %D%/tree_private.h \
	%D%/tree_limits.c
