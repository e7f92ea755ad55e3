// Gather of rows of a whole tensor against Global Arrays' NGA_Get, one call per row.

#include <ga.h>
#include <macdecls.h>

#include "paired.hpp"
#include "table.hpp"

namespace {

using namespace syncyte::bench;

/// The same table as a global array.
class global_array {
 public:
  global_array() {
    int shape[] = {static_cast<int>(table_rows), static_cast<int>(row_floats)};
    int chunk[] = {-1, static_cast<int>(row_floats)};  // whole rows
    static char name[] = "table";
    handle_ = NGA_Create(C_FLOAT, 2, shape, name, chunk);
    int low[2], high[2];
    NGA_Distribution(handle_, GA_Nodeid(), low, high);
    std::vector<float> row(row_floats);
    for (int i = low[0]; i <= high[0]; ++i) {
      row.assign(row_floats, mark(i));
      int from[] = {i, 0}, to[] = {i, static_cast<int>(row_floats) - 1}, stride[] = {static_cast<int>(row_floats)};
      NGA_Put(handle_, from, to, row.data(), stride);
    }
    GA_Sync();
  }
  ~global_array() { GA_Destroy(handle_); }
  global_array(const global_array&) = delete;
  global_array& operator=(const global_array&) = delete;

  void gather(const std::vector<std::int64_t>& rows, std::vector<float>& result) const {
    int stride[] = {static_cast<int>(row_floats)};
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const int row = static_cast<int>(rows[i]);
      int from[] = {row, 0}, to[] = {row, static_cast<int>(row_floats) - 1};
      NGA_Get(handle_, from, to, result.data() + i * row_floats, stride);
    }
  }

 private:
  int handle_ = 0;
};

void run() {
  const whole_table table;
  const global_array other;
  auto rows = random_rows();
  std::vector<float> result(batch * row_floats);
  other.gather(rows, result);
  verify(rows, result, "NGA_Get");
  measure_rate(
      {"gather of 256-byte rows", "Mrow/s", "Global Arrays, one NGA_Get per row", "higher", 20.0}, batch * 1e-6,
      [&] { table.gather(rows, result); }, [&] { other.gather(rows, result); });
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  GA_Initialize();
  MA_init(MT_C_DBL, 1 << 20, 1 << 20);
  syncyte::bench::must(syncyte_init(nullptr));
  run();
  syncyte_finalize();
  GA_Terminate();
  MPI_Finalize();
}
