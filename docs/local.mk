# Documents that are read as they are, with the configuration's example.
dist_doc_DATA = README.md NEWS.md contrib/sandtrace.yaml %D%/architecture.md %D%/control.md %D%/depth.md %D%/errors.md %D%/floor.md %D%/getting-started.md %D%/integration-docker.md %D%/integration-kubernetes.md %D%/integration-podman.md %D%/network.md %D%/operations.md %D%/policy.md %D%/processes.md %D%/review-desk.md %D%/sandbox_security.md %D%/syscalls.md %D%/threat-model.md

# What watching costs: the method, and what make bench has found.
EXTRA_DIST += %D%/bench/README.md

# What the README shows; scripts/take_pictures.sh takes them anew.
EXTRA_DIST += %D%/pictures/demo.svg %D%/pictures/desk.png %D%/pictures/desk-container.png %D%/pictures/desk-dark.png %D%/pictures/desk-pending.png \
	%D%/pictures/desk-small.png %D%/pictures/pause.svg %D%/pictures/report.png %D%/pictures/watch.svg \
	scripts/take_desk_pictures.sh scripts/take_pictures.sh scripts/terminal_to_svg.py

# Man pages from scdoc sources.
MAN_SOURCES = %D%/man/sandtrace.1.scd %D%/man/sandtrace-runtime.8.scd %D%/man/sandtrace.yaml.5.scd \
	%D%/man/sandtrace-policy.5.scd %D%/man/sandtrace-trace.5.scd \
	%D%/man/sandtrace-approve.1.scd \
	%D%/man/sandtrace-completion.1.scd \
	%D%/man/sandtrace-demo.1.scd \
	%D%/man/sandtrace-deny.1.scd \
	%D%/man/sandtrace-doctor.1.scd \
	%D%/man/sandtrace-index.1.scd \
	%D%/man/sandtrace-install.1.scd \
	%D%/man/sandtrace-keygen.1.scd \
	%D%/man/sandtrace-kill.1.scd \
	%D%/man/sandtrace-pause.1.scd \
	%D%/man/sandtrace-pending.1.scd \
	%D%/man/sandtrace-policy.1.scd \
	%D%/man/sandtrace-ps.1.scd \
	%D%/man/sandtrace-reload.1.scd \
	%D%/man/sandtrace-report.1.scd \
	%D%/man/sandtrace-resume.1.scd \
	%D%/man/sandtrace-review.1.scd \
	%D%/man/sandtrace-run.1.scd \
	%D%/man/sandtrace-serve.1.scd \
	%D%/man/sandtrace-stream.1.scd \
	%D%/man/sandtrace-verify.1.scd \
	%D%/man/sandtrace-version.1.scd \
	%D%/man/sandtrace-watch.1.scd
dist_man_MANS += $(MAN_SOURCES:.scd=)
EXTRA_DIST += $(MAN_SOURCES)
MAINTAINERCLEANFILES += $(MAN_SOURCES:.scd=)
SUFFIXES = .scd
if HAVE_SCDOC
.scd:
	$(AM_V_GEN)mkdir -p $(@D) && $(SCDOC) <$< >$@.tmp && mv $@.tmp $@
endif
