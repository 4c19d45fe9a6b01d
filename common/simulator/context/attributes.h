// cudaDeviceProp and cudaDeviceAttr, from Device.
#pragma once

#include "common/simulator/context/cuda_api.h"

namespace simulator {

cudaDeviceProp device_properties();
// False: there is no such attribute.
bool device_attribute(cudaDeviceAttr attribute, int& value);

}  // namespace simulator
