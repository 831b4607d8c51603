# L5: sandtrace, one file a verb.
bin_PROGRAMS += sandtrace
sandtrace_SOURCES = \
	%D%/beside.c %D%/beside.h \
	%D%/cli.h \
	%D%/control_client.c %D%/control_client.h \
	%D%/decide.c %D%/decide.h \
	%D%/desk_place.c %D%/desk_place.h \
	%D%/demo.h \
	%D%/demo_box.c %D%/demo_box.h \
	%D%/demo_net.c %D%/demo_net.h \
	%D%/demo_place.c %D%/demo_place.h \
	%D%/demo_scenarios.c \
	%D%/demo_server.c \
	%D%/demo_story.c %D%/demo_story.h \
	%D%/demo_tell.c \
	%D%/demo_trace.c %D%/demo_trace.h \
	%D%/doctor.c %D%/doctor.h \
	%D%/doctor_engines.c \
	%D%/doctor_groups.c \
	%D%/doctor_kernel.c \
	%D%/doctor_net.c \
	%D%/doctor_places.c \
	%D%/doctor_programs.c %D%/doctor_programs.h \
	%D%/engine.c %D%/engine.h \
	%D%/engine_containerd.c \
	%D%/engine_docker.c \
	%D%/engine_podman.c \
	%D%/engine_toml.c %D%/engine_toml.h \
	%D%/filter.c %D%/filter.h \
	%D%/follow.c %D%/follow.h \
	%D%/input.c %D%/input.h \
	%D%/install.c %D%/install.h \
	%D%/install_hooks.c %D%/install_hooks.h \
	%D%/install_show.c \
	%D%/listener.c %D%/listener.h \
	%D%/main.c \
	%D%/options.c \
	%D%/pause_view.c %D%/pause_view.h \
	%D%/policy_cases.c \
	%D%/policy_diff.c \
	%D%/policy_event.c %D%/policy_event.h \
	%D%/policy_explain.c \
	%D%/policy_list.c \
	%D%/policy_test.c \
	%D%/policy_text.c \
	%D%/policy_trace.c \
	%D%/progress.c %D%/progress.h \
	%D%/rejudge.c %D%/rejudge.h \
	%D%/request.c %D%/request.h \
	%D%/show.c %D%/show.h \
	%D%/term.h \
	%D%/trust.c %D%/trust.h \
	%D%/verb_approve.c \
	%D%/verb_demo.c \
	%D%/verb_deny.c \
	%D%/verb_doctor.c \
	%D%/verb_index.c \
	%D%/verb_install.c \
	%D%/verb_keygen.c \
	%D%/verb_kill.c \
	%D%/verb_pause.c \
	%D%/verb_pending.c \
	%D%/verb_policy.c %D%/verb_policy.h \
	%D%/verb_ps.c \
	%D%/verb_reload.c \
	%D%/verb_resume.c \
	%D%/verb_review.c \
	%D%/verb_serve.c \
	%D%/verb_watch.c \
	%D%/watch_view.c %D%/watch_view.h \
	%D%/verb_completion.c \
	%D%/run_answer.c \
	%D%/run_args.c %D%/run_args.h \
	%D%/run_copy.c %D%/run_copy.h \
	%D%/run_etc.c %D%/run_etc.h \
	%D%/run_folder.c %D%/run_folder.h \
	%D%/run_groups.c %D%/run_groups.h \
	%D%/run_guard.c %D%/run_guard.h \
	%D%/run_job.c %D%/run_job.h \
	%D%/run_net.c %D%/run_net.h \
	%D%/run_pause.c %D%/run_pause.h \
	%D%/run_place.c %D%/run_place.h \
	%D%/run_relay.c %D%/run_relay.h \
	%D%/run_runtime.c %D%/run_runtime.h \
	%D%/run_session.c %D%/run_session.h \
	%D%/run_spec.c %D%/run_spec.h \
	%D%/run_summary.c %D%/run_summary.h \
	%D%/run_term.c %D%/run_term.h \
	%D%/run_tree.c %D%/run_tree.h \
	%D%/run_who.c %D%/run_who.h \
	%D%/run_exit.h \
	%D%/verb_run.c \
	%D%/verb_report.c %D%/report.h %D%/report_data.c %D%/report_tables.c %D%/report_text.c %D%/report_html.c %D%/report_json.c \
	%D%/tally.c %D%/tally.h \
	%D%/verb_stream.c \
	%D%/verb_verify.c %D%/verify_input.c %D%/verify_input.h %D%/verify_print.c %D%/verify_print.h \
	%D%/verb_version.c \
	%D%/verbs.c %D%/verbs.h
sandtrace_LDFLAGS = $(AM_LDFLAGS) $(ST_PIE_LDFLAGS)
sandtrace_CPPFLAGS = $(AM_CPPFLAGS) $(SQLITE_CFLAGS) $(NETTLE_CFLAGS) $(SODIUM_CFLAGS)
# What doctor tries is what monitors do: with their code.
sandtrace_LDADD = libdesk.a libconfig.a libmonitor.a libbundle.a libsensors.a libsensorsnf.a libsensorsnet.a librespond.a liboci.a \
	libpolicy.a $(POLICY_LIBS) $(AUDIT_LIBS) $(NETFILTER_LIBS) $(SQLITE_LIBS)

# The review desk's server, a program of its own: what it needs is not loaded by every other verb.
pkglibexec_PROGRAMS += sandtrace-desk
sandtrace_desk_SOURCES = \
	%D%/beside.c %D%/beside.h \
	%D%/control_client.c %D%/control_client.h \
	%D%/desk_bus.c %D%/desk_bus.h \
	%D%/desk_confine.c %D%/desk_confine.h \
	%D%/desk_errand.c %D%/desk_errand.h \
	%D%/desk_live.c %D%/desk_live.h \
	%D%/desk_main.c \
	%D%/desk_place.c %D%/desk_place.h \
	%D%/desk_serve.c %D%/desk_serve.h \
	%D%/desk_watch.c %D%/desk_watch.h \
	%D%/listener.c %D%/listener.h
sandtrace_desk_LDFLAGS = $(AM_LDFLAGS) $(ST_PIE_LDFLAGS)
sandtrace_desk_CPPFLAGS = $(sandtrace_CPPFLAGS) $(SECCOMP_CFLAGS) $(CAPNG_CFLAGS)
sandtrace_desk_LDADD = $(DESK_HTTP_LIBS) libconfig.a libmonitor.a $(AUDIT_LIBS) $(SECCOMP_LIBS) $(CAPNG_LIBS)
