# Checks that read the source rather than run it. `make lint` is all of them; each can be run alone.
# A tool that is missing is an error that names its Debian package, never a check left out.
LINT_PARTS = check-layers lint-format lint-code lint-notes lint-tidy lint-cppcheck lint-shell lint-man
.PHONY: lint format $(LINT_PARTS)
lint: $(LINT_PARTS)

EXTRA_DIST += \
	%D%/check-code.awk \
	%D%/check-dist.sh \
	%D%/check-layers.sh \
	%D%/check-notes.sh \
	%D%/check-tidy.sh \
	%D%/compile-commands.awk

# Not all of tests/fuzz and tests/unit is in one build, but all of it is formatted.
LINT_C_FILES = find $(srcdir)/src $(srcdir)/hooks $(srcdir)/tests -name '*.[ch]'
LINT_SHELL_FILES = { find contrib hooks packaging scripts tests -name '*.sh' -o -name '*.bash' -o -name '*.bats'; \
	ls autogen.sh build-aux/check-*.sh packaging/debian/postinst packaging/debian/postrm packaging/debian/prerm; test ! -f .ci/run || echo .ci/run; }
NEED = need() { test -n "$$1" || { echo "make lint: $$2 not found: apt-get install $$2, and run configure again" >&2; exit 1; }; }; need

check-layers:
	$(AM_V_at)$(SHELL) $(srcdir)/%D%/check-layers.sh $(srcdir)

# Not part of lint: it makes a tarball first.
.PHONY: check-dist
check-dist: dist
	$(AM_V_at)$(SHELL) $(srcdir)/%D%/check-dist.sh $(srcdir) $(distdir).tar.xz

format:
	$(AM_V_at)$(NEED) "$(CLANG_FORMAT)" clang-format; $(LINT_C_FILES) | xargs $(CLANG_FORMAT) -i

lint-format:
	$(AM_V_at)$(NEED) "$(CLANG_FORMAT)" clang-format; \
	$(LINT_C_FILES) | xargs $(CLANG_FORMAT) --dry-run -Werror

lint-code:
	$(AM_V_at)$(LINT_C_FILES) | xargs $(AWK) -f $(srcdir)/%D%/check-code.awk

lint-notes:
	$(AM_V_at)$(SHELL) $(srcdir)/%D%/check-notes.sh $(srcdir)

# The build's own commands, without building: -W makes each source look new. Made anew each time, as
# a list of files that has grown shows in no time stamp.
LINT_OBJECTS = $(noinst_LIBRARIES) $(bin_PROGRAMS) $(pkglibexec_PROGRAMS) $(noinst_PROGRAMS) $(check_PROGRAMS)
.PHONY: compile_commands.json
compile_commands.json:
	$(AM_V_GEN)$(MAKE) -n V=1 `cd $(srcdir) && find src hooks tests -name '*.c' | sed 's|^|-W $(srcdir)/|'` \
		$(LINT_OBJECTS) | \
	$(AWK) -v dir='$(abs_builddir)' -v srcdir='$(srcdir)' -f $(srcdir)/%D%/compile-commands.awk >$@.tmp && mv $@.tmp $@
CLEANFILES += compile_commands.json

# Slow, so what was found clean is remembered by its content, in a place that can outlive the build.
LINT_CACHE = .lint-cache
lint-tidy: compile_commands.json src/shim/landlock_helper.inc
	$(AM_V_at)$(NEED) "$(CLANG_TIDY)" clang-tidy; \
	CLANG_TIDY='$(CLANG_TIDY)' $(SHELL) $(srcdir)/%D%/check-tidy.sh $(srcdir) $(LINT_CACHE)

# uninitvar is the analyzer's business above, which knows more of it; varFuncNullUB takes a named parameter for
# a variadic one.
lint-cppcheck:
	$(AM_V_at)$(NEED) "$(CPPCHECK)" cppcheck; \
	$(CPPCHECK) --quiet --error-exitcode=1 --std=c11 -j "$$(nproc)" --inline-suppr \
		--enable=warning,performance,portability --suppress=missingIncludeSystem \
		--suppress=uninitvar --suppress=varFuncNullUB -D_GNU_SOURCE -I $(srcdir)/src $(srcdir)/src $(srcdir)/hooks

lint-shell:
	$(AM_V_at)$(NEED) "$(SHELLCHECK)" shellcheck; cd $(srcdir) && $(LINT_SHELL_FILES) | xargs $(SHELLCHECK) --severity=info

# Every page that is written is also built and installed, and reads without a complaint (but one that
# scdoc's way of writing paragraphs brings with it).
lint-man: $(dist_man_MANS)
	$(AM_V_at)$(NEED) "$(MANDOC)" mandoc; \
	for page in $(srcdir)/docs/man/*.scd; do \
		case " $(MAN_SOURCES) " in *" docs/man/$${page##*/} "*) ;; \
		*) echo "$$page is not in MAN_SOURCES of docs/local.mk" >&2; exit 1;; esac; \
	done; \
	for page in $(dist_man_MANS); do \
		test -f $$page || page=$(srcdir)/$$page; \
		! $(MANDOC) -T lint -W warning $$page | grep -v 'skipping paragraph macro' >&2 || exit 1; \
	done

clean-local: clean-lint
.PHONY: clean-lint
clean-lint:
	rm -rf .lint-cache
