/* SPDX-License-Identifier: BSD-3-Clause */
/* Cuts, restores and limits links of virtual hosts from a test that runs on them.
 *
 *   links_cut(2, 0); ... links_restore(2);   or   links_request("shape 2 100 16");
 *
 * python/virtual_links.py describes the requests. The functions return when the request is done: 0, or 1 after a
 * message on stderr, or LINKS_UNSUPPORTED (the status of a skipped test) if this machine cannot limit rates. */
#ifndef SYNCYTE_TESTS_SUPPORT_LINKS_H
#define SYNCYTE_TESTS_SUPPORT_LINKS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define LINKS_UNSUPPORTED 77

/* Number of the host of this process, from 1; 0 if it is not on a virtual host. */
static inline int links_host(void) {
  const char* host = getenv("SYNCYTE_VIRTUAL_HOST");
  return host ? atoi(host) : 0;
}

/* A connection to the server of the links; -1 if there is no server. Reads end after 10 s. */
static inline int links_connect(void) {
  const char* path = getenv("SYNCYTE_VIRTUAL_HOSTS_CONTROL");
  const struct timeval limit = {10, 0};
  struct sockaddr_un address;
  int connection = socket(AF_UNIX, SOCK_STREAM, 0);
  memset(&address, 0, sizeof address);
  address.sun_family = AF_UNIX;
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path ? path : "");
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  if (connect(connection, (const struct sockaddr*)&address, sizeof address) == 0) return connection;
  close(connection);
  return -1;
}

/* Sends a request and reads its answer, which is empty if no server answers. */
static inline void links_ask(const char* request, char* answer, size_t size) {
  char line[128];
  int connection = links_connect();
  ssize_t length = snprintf(line, sizeof line, "%s\n", request);
  size_t have = 0;
  answer[0] = '\0';
  if (connection < 0) return;
  if (send(connection, line, (size_t)length, MSG_NOSIGNAL) == length) {
    while (have + 1 < size && (length = recv(connection, answer + have, size - 1 - have, 0)) > 0) {
      have += (size_t)length;
      if (answer[have - 1] == '\n') break;
    }
  }
  close(connection);
  answer[have] = '\0';
}

static inline int links_request(const char* request) {
  char answer[512];
  links_ask(request, answer, sizeof answer);
  if (strcmp(answer, "ok\n") == 0) return 0;
  fprintf(stderr, "links: %s: %s\n", request, answer[0] ? answer : "no answer");
  return strncmp(answer, "unsupported", 11) == 0 ? LINKS_UNSUPPORTED : 1;
}

/* With seconds > 0 the link is restored after this time, whatever the caller does; with 0 by links_restore. */
static inline int links_cut(int host, double seconds) {
  char request[64];
  if (seconds > 0) {
    snprintf(request, sizeof request, "cut %d %.3f", host, seconds);
  } else {
    snprintf(request, sizeof request, "cut %d", host);
  }
  return links_request(request);
}

static inline int links_restore(int host) {
  char request[64];
  snprintf(request, sizeof request, "restore %d", host);
  return links_request(request);
}

/* Limits what a host sends, and what it receives, to this rate in Mbit/s. */
static inline int links_shape(int host, double mbit) {
  char request[64];
  snprintf(request, sizeof request, "shape %d %.3f", host, mbit);
  return links_request(request);
}

static inline int links_unshape(int host) {
  char request[64];
  snprintf(request, sizeof request, "unshape %d", host);
  return links_request(request);
}

#endif
