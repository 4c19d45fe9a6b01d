# GoogleTest, for every folder's tests: the system's, else a pinned release, downloaded. Sets LADDER_TESTS to OFF, and says
# so in a line, where there is neither: rungs build and run without.

find_package(GTest QUIET)
if(NOT GTest_FOUND)
  # Downloaded by hand, so that a machine without a network gets one line and not a page.
  set(archive ${CMAKE_BINARY_DIR}/googletest-1.17.0.tar.gz)
  set(sha256 65fab701d9829d38cb77c14acdc431d2108bfdbf8979e40eb8ae567edf10b27c)
  if(NOT EXISTS ${archive})
    file(DOWNLOAD https://github.com/google/googletest/archive/refs/tags/v1.17.0.tar.gz ${archive}
         STATUS status INACTIVITY_TIMEOUT 15)
  endif()
  file(SHA256 ${archive} received)
  if(NOT received STREQUAL sha256)
    file(REMOVE ${archive})
    message(STATUS "GoogleTest is missing and could not be downloaded (apt-get install libgtest-dev): no tests")
    set(LADDER_TESTS OFF)
    return()
  endif()
  include(FetchContent)
  set(INSTALL_GTEST OFF)
  set(BUILD_GMOCK OFF)
  FetchContent_Declare(googletest URL ${archive} URL_HASH SHA256=${sha256} DOWNLOAD_EXTRACT_TIMESTAMP OFF)
  FetchContent_MakeAvailable(googletest)
endif()
include(GoogleTest)
