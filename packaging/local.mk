# make deb: a Debian package from what make dist would pack, in packages/ of the build tree.
#
# The files of debian/ lie here and not at the top, so that a distribution's own debian/ never meets ours.
# DEB_BUILD_OPTIONS is as in Debian; without it the tests are left out, for make check has them.
DEB_INPUT = \
	%D%/deb.sh \
	%D%/debian/README.Debian \
	%D%/debian/control.in \
	%D%/debian/copyright \
	%D%/debian/examples \
	%D%/debian/lintian-overrides \
	%D%/debian/postinst \
	%D%/debian/postrm \
	%D%/debian/prerm \
	%D%/debian/rules \
	%D%/debian/source/format
EXTRA_DIST += $(DEB_INPUT)

DEB_DIR = packages
.PHONY: deb
deb:
	$(AM_V_at)rm -rf $(DEB_DIR)/source && $(MKDIR_P) $(DEB_DIR)
	$(AM_V_GEN)$(MAKE) -s distdir distdir=$(DEB_DIR)/source
	$(AM_V_at)LIBOCISPEC='$(patsubst --with-libocispec=%,%,$(ST_DISTCHECK_FLAGS))' $(SHELL) $(srcdir)/%D%/deb.sh $(DEB_DIR) $(PACKAGE_VERSION)

clean-local: clean-deb
.PHONY: clean-deb
clean-deb:
	rm -rf $(DEB_DIR)
