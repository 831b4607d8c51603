# Unit tests of src/snapshot and of the tasks that it opens (src/desk/review): the files concerned are compiled into the test.
UNIT_TESTS += %D%/test_snapshot_tar
tests_unit_test_snapshot_tar_SOURCES = %D%/test_snapshot_tar.c src/snapshot/tar.c src/snapshot/gather.c src/snapshot/gather_object.c
tests_unit_test_snapshot_tar_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_snapshot_tar_LDADD = $(UNIT_LDADD_BASE)

UNIT_TESTS += %D%/test_desk_review
tests_unit_test_desk_review_SOURCES = %D%/test_desk_review.c %D%/unit.h
tests_unit_test_desk_review_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_desk_review_LDADD = libdesk.a $(UNIT_LDADD_BASE)
