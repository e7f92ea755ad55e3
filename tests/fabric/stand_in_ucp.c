/* SPDX-License-Identifier: BSD-3-Clause */
/* A libucp.so.0 that says it is UCX 1.<MINOR>.0, built without support of threads. It has the functions without which
   libsyncyte_ucx.so cannot be loaded; only the first two may be called, because such a library is refused. */
#include <stdint.h>
#include <stdlib.h>

void ucp_get_version(unsigned* major, unsigned* minor, unsigned* patch);
void ucp_get_version(unsigned* major, unsigned* minor, unsigned* patch) {
  *major = 1;
  *minor = MINOR;
  *patch = 0;
}

struct library_attributes { /* ucp_lib_attr_t */
  uint64_t field_mask;
  int max_thread_level; /* ucs_thread_mode_t */
};

int ucp_lib_query(struct library_attributes* library);
int ucp_lib_query(struct library_attributes* library) {
  library->max_thread_level = 1; /* UCS_THREAD_MODE_SERIALIZED */
  return 0;
}

#define MUST_NOT_BE_CALLED(name) \
  void name(void);               \
  void name(void) { abort(); }

MUST_NOT_BE_CALLED(ucp_am_send_nbx)
MUST_NOT_BE_CALLED(ucp_cleanup)
MUST_NOT_BE_CALLED(ucp_config_modify)
MUST_NOT_BE_CALLED(ucp_config_read)
MUST_NOT_BE_CALLED(ucp_config_release)
MUST_NOT_BE_CALLED(ucp_ep_close_nbx)
MUST_NOT_BE_CALLED(ucp_ep_create)
MUST_NOT_BE_CALLED(ucp_ep_flush_nbx)
MUST_NOT_BE_CALLED(ucp_init_version)
MUST_NOT_BE_CALLED(ucp_request_free)
MUST_NOT_BE_CALLED(ucp_worker_arm)
MUST_NOT_BE_CALLED(ucp_worker_create)
MUST_NOT_BE_CALLED(ucp_worker_destroy)
MUST_NOT_BE_CALLED(ucp_worker_get_address)
MUST_NOT_BE_CALLED(ucp_worker_get_efd)
MUST_NOT_BE_CALLED(ucp_worker_progress)
MUST_NOT_BE_CALLED(ucp_worker_release_address)
MUST_NOT_BE_CALLED(ucp_worker_set_am_recv_handler)
