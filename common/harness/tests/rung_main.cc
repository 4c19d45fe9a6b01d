// main() of a rung's own tests (ladder_rung_test), on a GPU and on the simulator alike. Where the rung's
// kernels cannot run it ends as the rung itself would, with one line and exit code 77.
#include <gtest/gtest.h>

#include "common/harness/backend/system.h"
#include "common/harness/base/failure.h"

int main(int argc, char** argv) {
  using namespace ladder;
  testing::InitGoogleTest(&argc, argv);
  return run_program(rung().name, [] {
    require(this_system(), rung().needs);
    return RUN_ALL_TESTS() == 0 ? Exit::passed : Exit::wrong_result;
  });
}
