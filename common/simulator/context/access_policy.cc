#include "common/simulator/context/access_policy.h"

#include "common/simulator/context/attributes.h"

namespace simulator {

cudaError_t check_window(const cudaAccessPolicyWindow& window) {
  int most = 0;
  device_attribute(cudaDevAttrMaxAccessPolicyWindowSize, most);
  const bool fits = window.num_bytes <= static_cast<size_t>(most);
  const bool is_ratio = window.hitRatio >= 0 && window.hitRatio <= 1;  // not a NaN either
  const bool known =
      window.hitProp >= cudaAccessPropertyNormal && window.hitProp <= cudaAccessPropertyPersisting;
  const bool may_miss =
      window.missProp == cudaAccessPropertyNormal || window.missProp == cudaAccessPropertyStreaming;
  return fits && is_ratio && known && may_miss ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace simulator
