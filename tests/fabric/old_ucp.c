/* A libucp.so.0 that says it is UCX 1.12.0. It has the functions without which libsyncyte_ucx.so cannot be loaded; only
   ucp_get_version() may be called, because a release older than 1.13 is refused first. */
#include <stdlib.h>

void ucp_get_version(unsigned* major, unsigned* minor, unsigned* patch);
void ucp_get_version(unsigned* major, unsigned* minor, unsigned* patch) {
  *major = 1;
  *minor = 12;
  *patch = 0;
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
