#include "common/harness/problems/copy_baseline.h"
#include "common/harness/problems/row_operator/problem.h"

namespace ladder {

Baselines baselines(const Variant<RowOperator>& variant, const std::vector<RowOperator>& sets) {
  return {copy_of(compulsory_bytes(sets[0], extension_of(variant).operation), sets.size()), {}};
}

}  // namespace ladder
