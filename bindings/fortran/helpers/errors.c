/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors for Fortran: messages built from the fields of the thread's last error, and the end of the job. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "descriptor.h"

#ifdef SYNCYTE_GFORTRAN
void _gfortran_backtrace(void);
static void print_backtrace(void) { _gfortran_backtrace(); }
#elif defined(SYNCYTE_EXECINFO)
#include <execinfo.h>
static void print_backtrace(void) {
  void* frames[64];
  backtrace_symbols_fd(frames, backtrace(frames, 64), 2);
}
#else
static void print_backtrace(void) {}
#endif

/* Writes the items of a list, "2, 3]", last one first. */
static void write_reversed(FILE* to, const char* items, const char* end, const char* after) {
  const char* comma = memchr(items, ',', (size_t)(end - items));
  if (comma != NULL) write_reversed(to, comma + 2, end, ", ");
  fprintf(to, "%.*s%s", (int)((comma != NULL ? comma : end) - items), items, after);
}

/* Writes a field. Lists of extents are reversed, into Fortran's order. Axes that differ between ranks count from the
 * end (-1 is the last one), Fortran's dimensions from the start: axis -d is dimension d, so only the sign is left out.
 */
static void write_field(FILE* to, const char* text, bool has_extents, bool drops_signs) {
  for (const char* next = text; *next != '\0'; ++next) {
    const char* end = *next == '[' && has_extents ? strchr(next, ']') : NULL;
    const bool is_sign = drops_signs && *next == '-' && (next == text || next[-1] == ' ');
    if (!is_sign) fputc(*next, to);
    if (end == NULL) continue;
    write_reversed(to, next + 1, end, "]");
    next = end;
  }
}

/* Fortran's name of an argument of the C interface. */
static const char* name_of(const char* argument) {
  static const char* const names[][2] = {{"axis", "dim"},
                                         {"gather_axis", "gather_dim"},
                                         {"dimension", "dim"},
                                         {"scatter_axis", "scatter_dim"},
                                         {"end", "until"},
                                         {"lengths_length", "size of lengths"},
                                         {"ndim", "number of dimensions"},
                                         {"local", "array"},
                                         {"fortran_handle", "handle"}};
  if (strncmp(argument, "options->", 9) == 0) return argument + 9;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
    if (strcmp(argument, names[i][0]) == 0) return names[i][1];
  return argument;
}

static bool is_axis(const char* argument) {
  return strstr(argument, "axis") != NULL || strcmp(argument, "axes") == 0 || strcmp(argument, "dimension") == 0;
}

/* Writes an axis that is out of range and its range, "5; expected -2 to 1", as dimensions of Fortran, "-3; expected 1
 * to 2"; false if the fields are about something else. "0 to 1" is the range of an axis that cannot count from the end.
 */
static bool write_axis(FILE* to, const syncyte_error_fields_t* fields) {
  long long axis = 0, first = 0, last = 0;
  int end = 0, length = 0;
  const bool is_number = sscanf(fields->value, "%lld%n", &axis, &end) == 1 && fields->value[end] == '\0';
  if (!is_number || sscanf(fields->expected, "%lld to %lld%n", &first, &last, &length) != 2) return false;
  const bool is_from_end = axis < 0 && first < 0;
  fprintf(to, "%lld; expected 1 to %lld", is_from_end ? -axis : last + 1 - axis, last + 1);
  write_field(to, fields->expected + length, true, false);
  return true;
}

/* "dimension 2 of shape is 3; expected 4" */
static void write_argument(FILE* to, const syncyte_error_fields_t* fields) {
  const bool is_about_array = fields->ndim > 0, has_position = fields->axis >= 0;
  const bool has_extents = is_about_array || fields->status == SYNCYTE_ERR_SHAPE;
  const bool drops_signs = is_about_array && !has_position && is_axis(fields->argument);
  if (is_about_array && has_position) fprintf(to, "dimension %lld of ", (long long)(fields->ndim - fields->axis));
  fputs(name_of(fields->argument), to);
  if (!is_about_array && has_position) fprintf(to, "(%lld)", (long long)fields->axis + 1);
  fputs(" is ", to);
  if (is_axis(fields->argument) && write_axis(to, fields)) return;
  const char* value = strcmp(fields->value, "null") == 0 ? "absent or not allocated" : fields->value;
  write_field(to, value, has_extents, drops_signs);
  if (fields->expected[0] != '\0') fputs("; expected ", to);
  write_field(to, fields->expected, has_extents, drops_signs);
}

const char* fortran_last_error(void) {
  static _Thread_local char text[4096];
  syncyte_error_fields_t fields = {.struct_size = sizeof fields};
  FILE* to = syncyte_last_error_fields(&fields) == SYNCYTE_SUCCESS ? fmemopen(text, sizeof text, "w") : NULL;
  if (to == NULL) return syncyte_last_error();
  const char* suffix = strstr(fields.operation, "_along");
  const size_t length = suffix != NULL ? (size_t)(suffix - fields.operation) : strlen(fields.operation);
  if (fields.rank >= 0) fprintf(to, "rank %d: ", fields.rank);
  fprintf(to, "%.*s", (int)length, fields.operation);
  if (fields.object[0] != '\0') fprintf(to, " (%s)", name_of(fields.object));
  if (length > 0) fputs(": ", to);
  if (fields.argument[0] != '\0')
    write_argument(to, &fields);
  else
    fputs(fields.reason, to);
  fclose(to);
  text[sizeof text - 1] = '\0';
  return text;
}

/* An error that all ranks of a communicator got is printed by the lowest of them, whose abort ends the others. They
 * wait for that for seconds, because the lowest may have asked for stat. */
static void leave_to_first_rank(void) {
  int32_t rank = -1;
  if (syncyte_last_error_agreed(&rank) != SYNCYTE_SUCCESS || rank <= 0) return;
  struct timespec wait = {1, 0};
  for (int32_t rest = rank; rest > 0; rest /= 2) ++wait.tv_sec; /* the lowest of the others is the first to go on */
  nanosleep(&wait, NULL);
}

_Noreturn syncyte_status_t fortran_end_job(syncyte_status_t status) {
  int started = 0, ended = 0;
  leave_to_first_rank();
  fprintf(stderr, "Syncyte error %s: %s\n", syncyte_status_name(status), fortran_last_error());
  print_backtrace();
  fflush(stderr);
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  if (started && !ended) MPI_Abort(MPI_COMM_WORLD, status);
  exit(status);
}
