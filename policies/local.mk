# Shipped policies, and the cases that say what each is expected to decide.
policydir = $(pkgdatadir)/policies
dist_policy_DATA = \
	%D%/agent-default.yaml \
	%D%/agent-node.yaml \
	%D%/agent-python.yaml \
	%D%/audit-only.yaml \
	%D%/ci-build.yaml \
	%D%/seed-fs-writes.yaml \
	%D%/seed-stripe.yaml \
	%D%/strict.yaml
EXTRA_DIST += \
	%D%/README.md \
	%D%/tests/agent-default.cases.yaml \
	%D%/tests/agent-node.cases.yaml \
	%D%/tests/agent-python.cases.yaml \
	%D%/tests/audit-only.cases.yaml \
	%D%/tests/ci-build.cases.yaml \
	%D%/tests/seed-fs-writes.cases.yaml \
	%D%/tests/seed-stripe.cases.yaml \
	%D%/tests/strict.cases.yaml
