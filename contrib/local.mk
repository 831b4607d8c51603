# What helps to install and to integrate.
EXTRA_DIST += \
	%D%/apt-source.sh \
	%D%/demo.sh \
	%D%/docker/Dockerfile \
	%D%/docker/compose.yaml \
	%D%/docker/daemon.json \
	%D%/grafana/sandtrace.json \
	%D%/kubernetes/Dockerfile \
	%D%/kubernetes/containerd.toml \
	%D%/kubernetes/daemonset.yaml \
	%D%/kubernetes/install-node.sh \
	%D%/kubernetes/pod.yaml \
	%D%/kubernetes/runtimeclass.yaml \
	%D%/libocispec.sh \
	%D%/logrotate/sandtrace \
	%D%/packages.txt \
	%D%/page-driver.sh \
	%D%/podman/agent.container \
	%D%/podman/containers.conf \
	%D%/podman/hooks.d/50-sandtrace-asked-poststop.json \
	%D%/podman/hooks.d/50-sandtrace-asked-precreate.json \
	%D%/podman/hooks.d/50-sandtrace-asked.json \
	%D%/prometheus/sandtrace.rules.yaml \
	%D%/prometheus/sandtrace.test.yaml \
	%D%/quickstart.sh \
	%D%/systemd/modules.conf \
	%D%/systemd/sandtrace-desk.service \
	%D%/systemd/sandtrace-doctor.service \
	%D%/systemd/sandtrace-doctor.timer \
	%D%/systemd/sysctl.conf \
	%D%/systemd/tmpfiles.conf

# Shell completion, from the verbs' own tables. The program is asked, so it must run here: a cross build
# has none (configure --host), and says so.
COMPLETIONS = %D%/completion/sandtrace %D%/completion/_sandtrace %D%/completion/sandtrace.fish
CLEANFILES += $(COMPLETIONS)
if !CROSS_BUILD
bashcompletiondir = $(datadir)/bash-completion/completions
nodist_bashcompletion_DATA = %D%/completion/sandtrace
zshcompletiondir = $(datadir)/zsh/site-functions
nodist_zshcompletion_DATA = %D%/completion/_sandtrace
fishcompletiondir = $(datadir)/fish/vendor_completions.d
nodist_fishcompletion_DATA = %D%/completion/sandtrace.fish
endif
COMPLETION = $(MKDIR_P) $(@D) && ./sandtrace$(EXEEXT) completion
%D%/completion/sandtrace: sandtrace$(EXEEXT)
	$(AM_V_GEN)$(COMPLETION) bash >$@.tmp && mv $@.tmp $@
%D%/completion/_sandtrace: sandtrace$(EXEEXT)
	$(AM_V_GEN)$(COMPLETION) zsh >$@.tmp && mv $@.tmp $@
%D%/completion/sandtrace.fish: sandtrace$(EXEEXT)
	$(AM_V_GEN)$(COMPLETION) fish >$@.tmp && mv $@.tmp $@

# Tried where sandtrace is at work: installed with it.
dist_pkgdata_SCRIPTS = scripts/verify_sandbox_monitor.sh
