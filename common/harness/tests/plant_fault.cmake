# Writes `planted`, a copy of `source` with `text` replaced by `by`: one deliberate mistake. Included by what
# ladder_fault() generates.
file(READ ${source} sound)
string(FIND "${sound}" "${text}" first)
string(FIND "${sound}" "${text}" last REVERSE)
if(first EQUAL -1 OR NOT first EQUAL last)
  message(FATAL_ERROR "the fault's REPLACE must occur in ${source} exactly once: ${text}")
endif()
string(REPLACE "${text}" "${by}" faulty "${sound}")
file(WRITE ${planted} "${faulty}")
