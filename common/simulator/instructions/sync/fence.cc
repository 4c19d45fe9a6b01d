// Memory fences (PTX ISA 9.7.13).
#include "common/simulator/decode/decoder.h"
#include "common/simulator/instructions/sync/mbarrier.h"
#include "common/simulator/instructions/sync/opcodes.h"
#include "common/simulator/instructions/sync/tma_map_fence.h"
#include "common/simulator/machine/machine.h"

namespace simulator {
namespace {

// What threads did to shared memory may be followed by accesses of the async proxy (PTX ISA 8.6).
void run_proxy_fence(Warp& warp, const Inst&) {
  if (warp.worker->checking)
    warp.cta->cluster->shadow.proxy_fence(warp.in_cluster, warp.exec, warp.exec == warp.live);
}

// a, b: does it release, acquire? Memory is sequentially consistent here: a fence, of whatever scope, matters
// only to what is known to be ordered, around relaxed arrivals and waits.
void run_fence(Warp& warp, const Inst& inst) {
  if (!warp.worker->checking) return;
  SharedShadow& shadow = warp.cta->cluster->shadow;
  if (inst.a) shadow.release(warp.in_cluster, warp.fenced);
  if (!inst.b || warp.unfenced.empty()) return;
  shadow.acquire(warp.in_cluster, warp.unfenced);
  warp.unfenced.clear();
}

// fence.proxy.async::generic: between accesses by threads and later ones of the async proxy, which the
// threads learn of through a relaxed barrier.
void run_generic_to_async_fence(Warp& warp, const Inst& inst) {
  if (inst.b) run_fence(warp, inst);
  run_proxy_fence(warp, inst);
  if (inst.a) run_fence(warp, inst);
}

void decode_proxy_fence(Decoder& d) {
  d.inst().inner = run_nothing;
  if (d.has("async")) {
    if (!d.has("global")) d.inst().inner = run_proxy_fence;
    d.one_of({"shared::cta", "shared::cluster"});
  } else if (d.has("async::generic")) {
    d.one_of({"sync_restrict::shared::cta", "sync_restrict::shared::cluster"});
    d.has("cluster");
    d.inst().a = d.has("release");
    d.inst().b = d.has("acquire");
    if (d.inst().a == d.inst().b) d.unsupported("this fence does not exist");
    d.inst().inner = run_generic_to_async_fence;
  } else if (d.has("tensormap::generic")) {
    decode_tma_map_fence(d);
  } else if (!d.has("alias")) {
    d.unsupported("this simulator has no such proxy");
  }
}

void run_init_fence(Warp& warp, const Inst&) {
  if (warp.worker->checking) publish_mbarriers(warp);
}

void decode_fence(Decoder& d) {
  if (d.has("proxy")) return decode_proxy_fence(d);
  if (d.has("mbarrier_init")) {
    if (!d.has("release") || !d.has("cluster")) d.unsupported("this fence does not exist");
    d.inst().inner = run_init_fence;
    return;
  }
  const int order = d.one_of({"sc", "acq_rel", "acquire", "release"});
  d.one_of({"sync_restrict::shared::cta", "sync_restrict::shared::cluster"});
  const int scope = d.one_of({"cta", "cluster", "gpu", "sys"});
  // A fence of this scope means that clusters communicate, with plain loads and stores, too.
  if (scope >= 2) d.program().order_sensitive = true;
  d.inst().a = order != 2;
  d.inst().b = order != 3;
  d.inst().inner = run_fence;
}

void decode_membar(Decoder& d) {
  if (d.has("proxy")) return decode_proxy_fence(d);
  if (d.one_of({"cta", "gl", "sys"}) >= 1) d.program().order_sensitive = true;
  d.inst().inner = run_nothing;
}

}  // namespace

std::span<const Opcode> fence_opcodes() {
  static const Opcode table[] = {{"fence", decode_fence}, {"membar", decode_membar}};
  return table;
}

}  // namespace simulator
