#include "memory/open_files.hpp"

#include <sys/resource.h>

#include <cerrno>
#include <fstream>

#include "base/error.hpp"

namespace syncyte::memory {

void check_open_files(const std::string& step, int code) {
  if (code == EMFILE) {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    base::fail(SYNCYTE_ERR_LIMIT, "{} failed: {}; this process may have {} open files (RLIMIT_NOFILE; ulimit -n)", step,
               base::errno_text(code), limit.rlim_cur);
  }
  if (code == ENFILE) {
    std::string most = "?";
    std::ifstream("/proc/sys/fs/file-max") >> most;
    base::fail(SYNCYTE_ERR_LIMIT, "{} failed: {}; this machine may have {} open files (/proc/sys/fs/file-max)", step,
               base::errno_text(code), most);
  }
}

}  // namespace syncyte::memory
