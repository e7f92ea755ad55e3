// SPDX-License-Identifier: BSD-3-Clause
// Errors of MPI's functions, MPI_Test of a request, and MPI's types.

#include "mpi/call.hpp"

#include <complex>
#include <type_traits>

#include "base/generated/known.hpp"
#include "mpi/deaths.hpp"
#include "mpi_world.hpp"

namespace {

using namespace syncyte;
using test::expect_error;
using test::outcome_of;

std::string text_of(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return text;
}

TEST(call, an_error_has_the_text_of_mpi) {
  const test::own_comm comm;
  const int code = MPI_Send(nullptr, 0, MPI_BYTE, test::world_size(), 0, comm);
  ASSERT_NE(code, MPI_SUCCESS);
  const auto found = outcome_of([&] { mpi::check(code, "MPI_Send (a test)"); });
  EXPECT_EQ(found.status, SYNCYTE_ERR_MPI);
  EXPECT_EQ(found.message, "MPI_Send (a test) failed: " + text_of(code));
  EXPECT_NO_THROW(mpi::check(MPI_SUCCESS, "MPI_Send"));
}

TEST(call, has_ended_when_the_request_has) {
  const test::own_comm self(mpi::duplicate(MPI_COMM_SELF));
  int sent = 5, received = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&received, 1, MPI_INT, 0, 0, self, &request);
  EXPECT_FALSE(mpi::has_ended(request, "MPI_Irecv"));
  ASSERT_NE(request, MPI_REQUEST_NULL);
  MPI_Send(&sent, 1, MPI_INT, 0, 0, self);
  while (!mpi::has_ended(request, "MPI_Irecv")) mpi::pause_polling();
  EXPECT_EQ(request, MPI_REQUEST_NULL);
  EXPECT_EQ(received, sent);
}

TEST(call, has_ended_throws_the_error_of_the_request) {
  const mpi::errors_returned of_self(MPI_COMM_SELF);  // MPICH reports it there
  const test::own_comm self(mpi::duplicate(MPI_COMM_SELF));
  int sent[2] = {1, 2}, received = 0;
  MPI_Request request = MPI_REQUEST_NULL, sending = MPI_REQUEST_NULL;
  MPI_Isend(sent, 2, MPI_INT, 0, 0, self, &sending);  // first: Open MPI 4 hides the error of a receive that waits
  MPI_Irecv(&received, 1, MPI_INT, 0, 0, self, &request);
  const auto found = outcome_of([&] {
    while (!mpi::has_ended(request, "MPI_Irecv (a test)")) mpi::pause_polling();
  });
  expect_error(found, SYNCYTE_ERR_MPI, "MPI_Irecv (a test) failed: ");
  EXPECT_NE(found.message, "MPI_Irecv (a test) failed: ");
  MPI_Wait(&sending, MPI_STATUS_IGNORE);
}

TEST(call, has_ended_fails_after_a_death) {
  test::in_child([] {
    MPI_Request ended = MPI_REQUEST_NULL;
    mpi::declare_dead(1000);
    expect_error(outcome_of([&] { mpi::has_ended(ended, "MPI_Irecv"); }), SYNCYTE_ERR_PEER_DIED, "rank 1000");
  });
}

/// The combination of two elements by MPI.
template <class T>
T combined(syncyte_dtype_t dtype, MPI_Op op, T a, T b) {
  MPI_Reduce_local(&a, &b, 1, mpi::type_of(dtype), op);
  return b;
}

TEST(call, types_have_the_size_and_the_arithmetic_of_the_elements) {
  for (syncyte_dtype_t dtype = SYNCYTE_FLOAT16; dtype <= base::known::dtype::last; ++dtype) {
    int bytes = 0;
    MPI_Type_size(mpi::type_of(dtype), &bytes);
    EXPECT_EQ(static_cast<std::size_t>(bytes), base::dtype_size(dtype)) << base::dtype_name(dtype);
    base::visit_dtype(dtype, [&]<class T>(base::type_tag<T>) {
      if constexpr (std::is_arithmetic_v<T>) {
        // The larger one depends on the sign bit, the sum on exponents.
        const T minus = static_cast<T>(-1), one = 1, three = 3;
        EXPECT_EQ(combined(dtype, MPI_MAX, minus, one), std::max(minus, one)) << base::dtype_name(dtype);
        EXPECT_EQ(combined(dtype, MPI_SUM, one, three), T{4}) << base::dtype_name(dtype);
      } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
        const T i(0, 1);
        EXPECT_EQ(combined(dtype, MPI_PROD, i, i), T(-1)) << base::dtype_name(dtype);
      } else {
        EXPECT_EQ(bytes, dtype == SYNCYTE_BOOL ? 1 : 2) << "reduced elsewhere";
        // Bits of a NaN, which a conversion would change.
        EXPECT_EQ(mpi::type_of(dtype), dtype == SYNCYTE_BOOL ? MPI_UINT8_T : MPI_UINT16_T);
      }
    });
  }
}

TEST(call, unknown_types_are_refused) {
  for (const syncyte_dtype_t dtype : {0, -1, base::known::dtype::last + 1})
    expect_error(outcome_of([&] { mpi::type_of(dtype); }), SYNCYTE_ERR_TYPE, "dtype is " + std::to_string(dtype));
}

}  // namespace
