# cmake -D SOURCE=… -D OUTPUT=… -P revision.cmake: writes the git revision of the sources into a header, at every build;
# the file changes only when the revision does.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND git -C ${SOURCE} rev-parse --show-prefix
                OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE no_repository)
if(NOT no_repository AND prefix STREQUAL "") # the sources' own repository, not one that they were unpacked into
  execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=10
                  OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT revision)
  set(revision "unknown")
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define LADDER_REVISION \"@revision@\"\n" @ONLY)
