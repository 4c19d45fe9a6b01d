// For tests of the runtime: every test begins on a device as after the program's start.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <string>

#include "common/simulator/settings/settings.h"

// cudaError_t by name in messages. The error must be the last one, too, and is cleared.
inline testing::AssertionResult gives(const char* expression, const char*, cudaError_t got,
                                      cudaError_t expected) {
  const cudaError_t last = cudaGetLastError();
  if (got != expected) {
    return testing::AssertionFailure()
           << expression << " gives " << cudaGetErrorName(got) << ", not " << cudaGetErrorName(expected);
  }
  if (got != cudaSuccess && last != got) {
    return testing::AssertionFailure()
           << expression << " leaves " << cudaGetErrorName(last) << " as last error";
  }
  return testing::AssertionSuccess();
}
#define GIVES(call, error) EXPECT_PRED_FORMAT2(gives, call, error)
#define OK(call) ASSERT_PRED_FORMAT2(gives, call, cudaSuccess)

class Runtime : public testing::Test {
 protected:
  void SetUp() override {
    simulator::settings().checks = simulator::Checks::fail;
    OK(cudaDeviceReset());
    cudaGetLastError();
  }
  void TearDown() override { cudaDeviceReset(); }

  // What `action` writes to stderr.
  template <class F>
  std::string said(F&& action) {
    testing::internal::CaptureStderr();
    action();
    return testing::internal::GetCapturedStderr();
  }
};
