#include <optional>

#include "collectives/alone.hpp"
#include "collectives/checks.hpp"
#include "collectives/collectives.hpp"
#include "collectives/reduce.hpp"
#include "collectives/reduction_checks.hpp"
#include "comm/collective.hpp"

namespace syncyte::collectives {
namespace {

/// Of one rank; before its elements an exclusive scan has nothing to reduce.
void reduce_alone(const operands& given, syncyte_op_t op, bool is_exclusive) {
  const std::int64_t count = given.given().elements();
  if (is_exclusive)
    fill_identity(given.target(), count, given.given().dtype(), op);
  else
    copy_alone(given.source(), given.target(), count, given.given().dtype());
}

/// Reductions whose result all ranks get; scans agree on where they start.
template <class Reduce>
void reduce_everywhere(comm::communicator& comm, const char* operation, const syncyte_buffer_t* input,
                       const syncyte_buffer_t* output, syncyte_op_t op, std::optional<scan_from> start,
                       const extras& extras, Reduce&& reduce, bool is_exclusive = false) {
  comm::collective_call call(comm, operation);
  operands given;
  call.attempt([&] {
    if (extras.error) throw *extras.error;
    given = checked_operands(input, output, op, true);
    if (start) call.fact("start of the scan", static_cast<int>(*start));
    add_operands(call, given, op, extras);
  });
  call.agree();
  if (comm.is_alone()) return reduce_alone(given, op, is_exclusive);
  reduce(given.source(), given.target(), given.given().elements(), given.given().dtype(), op);
}

MPI_Comm direction(comm::communicator& comm, scan_from start) {
  return start == scan_from::first ? comm.data() : comm.reversed();
}

}  // namespace

void allreduce(comm::communicator& comm, const syncyte_buffer_t* input, const syncyte_buffer_t* output, syncyte_op_t op,
               const extras& extras) {
  reduce_everywhere(comm, "comm_allreduce", input, output, op, std::nullopt, extras,
                    // An empty allreduce returns at once when SYNCYTE_CHECK=off.
                    [&](const void* from, void* to, std::int64_t count, auto... given) {
                      if (count > 0) allreduce_elements(comm.data(), comm.nearby(), from, to, count, given...);
                    });
}

void scan(comm::communicator& comm, const syncyte_buffer_t* input, const syncyte_buffer_t* output, syncyte_op_t op,
          scan_from start, const extras& extras) {
  reduce_everywhere(comm, "comm_scan", input, output, op, start, extras,
                    [&](auto... given) { scan_elements(direction(comm, start), given...); });
}

void exscan(comm::communicator& comm, const syncyte_buffer_t* input, const syncyte_buffer_t* output, syncyte_op_t op,
            scan_from start, const extras& extras) {
  reduce_everywhere(
      comm, "comm_exscan", input, output, op, start, extras,
      [&](auto... given) { exscan_elements(direction(comm, start), given...); }, true);
}

void reduce(comm::communicator& comm, const syncyte_buffer_t* input, const syncyte_buffer_t* output, syncyte_op_t op,
            int root, const extras& extras) {
  comm::collective_call call(comm, "comm_reduce");
  operands given;
  call.attempt([&] {
    if (extras.error) throw *extras.error;
    require_root(comm, root);
    given = checked_operands(input, output, op, comm.rank() == root);
    call.fact("root", root);
    add_operands(call, given, op, extras);
  });
  call.agree();
  if (comm.is_alone()) return reduce_alone(given, op, false);
  reduce_to(comm.data(), given.source(), given.target(), given.given().elements(), root, given.given().dtype(), op);
}

}  // namespace syncyte::collectives
