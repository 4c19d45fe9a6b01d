#include "common/simulator/access/check_tcgen05.h"

#include <string>
#include <string_view>
#include <utility>

#include "common/simulator/access/names.h"

namespace simulator {
namespace {

using Kind = Tcgen05Accesses::Problem::Kind;

bool is_piped(Tcgen05Accesses::Kind kind) {
  using enum Tcgen05Accesses::Kind;
  return kind != ld && kind != st && kind != free;
}

// Does the instruction that runs join the pipeline?
bool issues_to_pipeline(const Warp& warp) {
  const std::string_view operation =
      warp.frame->program->function->instructions[warp.pc - 1].modifiers.front();
  return operation == "mma" || operation == "cp" || operation == "shift";
}

// "tcgen05.ld of column 3 of lanes 0 to 31 of tensor memory", "tcgen05.mma: D in columns 0 to 255 …".
std::string attempt(const Warp& warp, const Cta& cta, const Tcgen05Region& region, const char* operand) {
  const ptx::Instruction& instruction = warp.frame->program->function->instructions[warp.pc - 1];
  std::string text = std::string(instruction.opcode);
  text.append(1, '.').append(instruction.modifiers.front());
  text += *operand ? ": " + std::string(operand) + " in " : " of ";
  text += name_of(region) + " of tensor memory";
  if (&cta != warp.cta) text += " of " + name_of_cta(cta);
  return text;
}

// "tcgen05.mma by thread (0,0,0) at gemm.cu:42".
std::string name_of_operation(const Warp& warp, const Tcgen05Accesses::Operation& operation) {
  static constexpr const char* names[] = {"mma", "cp", "cp", "shift", "ld", "st", "dealloc"};
  return std::string("tcgen05.") + names[static_cast<size_t>(operation.kind)] +
         (is_piped(operation.kind) ? " by " + name_of_thread(warp, operation.warp, operation.lane)
                                   : " of " + name_of_warp(warp, operation.warp)) +
         " at " + place_of(*warp.cta, operation.pc);
}

std::string what_is_missing(Tcgen05Accesses::Kind kind) {
  using enum Tcgen05Accesses::Kind;
  if (kind == ld) return "tcgen05.wait::ld";
  if (kind == st) return "tcgen05.wait::st";
  return "a tcgen05.commit behind it, and a wait for the phase of its mbarrier,";
}

// … before what happens now.
std::string what_is_missing_before(const Warp& warp, const Tcgen05Accesses::Operation& earlier) {
  const std::string text = std::string(what_is_missing(earlier.kind)) + " before ";
  if (is_piped(earlier.kind))
    return text + "this; where another warp waits for it, a barrier must follow that";
  return text + (earlier.warp == warp.in_cluster ? "this" : "the barrier or arrival that leads here");
}

void report(Warp& warp, const Tcgen05Accesses::Problem& problem, const std::string& begin) {
  const Tcgen05Accesses::Operation& earlier = problem.earlier;
  const std::string does = problem.access.write ? " writes it" : " reads it";
  const std::string other =
      "it is " + (*problem.access.operand ? problem.access.operand + std::string(" of the ") : "the ") +
      name_of_operation(warp, earlier);
  const std::string operation = ": nothing orders it after an operation that" + does;
  switch (problem.kind) {
    case Kind::none:
      return;
    case Kind::unfinished:
      return finding(warp, FindingKind::unfinished_async,
                     begin + ": an operation that" + does + " has not been waited for", -1,
                     {other + ": it needs " + what_is_missing_before(warp, earlier)});
    case Kind::unordered:
      if (!is_piped(earlier.kind)) {
        return finding(
            warp, FindingKind::race, begin + operation, -1,
            {other + ": it needs " + what_is_missing(earlier.kind) + ", and a barrier must follow"});
      }
      if (!issues_to_pipeline(warp)) {
        return finding(warp, FindingKind::race, begin + operation, -1,
                       {other + ": it needs " + what_is_missing_before(warp, earlier)});
      }
      if (earlier.seen.empty()) return finding(warp, FindingKind::race, begin + operation, -1, {other});
      return finding(warp, FindingKind::race, begin + operation, -1,
                     {other + ", for which " + name_of_warp(warp, earlier.seen.front().warp) +
                      " has waited; a barrier must follow"});
    case Kind::unpiped:
      return finding(warp, FindingKind::race, begin + operation, -1,
                     {other +
                      ": the ISA (9.7.16.6.2) does not name this pair among those that run in order; "
                      "it needs " +
                      what_is_missing(earlier.kind) + " between"});
    case Kind::unfenced_before:
      return finding(warp, FindingKind::missing_fence,
                     begin + ": no tcgen05.fence::before_thread_sync follows an operation that" + does, -1,
                     {other + ": its thread needs the fence before the synchronisation that leads here"});
    case Kind::unfenced_after:
      return finding(warp, FindingKind::missing_fence,
                     begin +
                         ": no tcgen05.fence::after_thread_sync since the synchronisation with an operation "
                         "that" +
                         does,
                     -1, {other});
  }
}

void check_columns(Warp& warp, const Cta& cta, const Tcgen05Region& region, const char* operand) {
  if (region.column + region.columns > tcgen05_columns) {
    fault(warp, FindingKind::illegal_address,
          attempt(warp, cta, region, operand) + ", which has 512 columns");
  }
  const auto column = tcgen05_memory(cta).unallocated(region.column, region.columns);
  if (!column) return;
  std::string text = attempt(warp, cta, region, operand) + ": column " + std::to_string(*column) + ' ' +
                     tcgen05_memory(cta).state_of(*column);
  if (const auto freed = tcgen05_memory(cta).freed_at(*column))
    text += " by the tcgen05.dealloc at " + place_of(cta, *freed);
  fault(warp, FindingKind::illegal_address, std::move(text));
}

void check_written(Warp& warp, const Cta& cta, const Tcgen05Region& region, const char* operand) {
  for (uint32_t c = region.column; c < region.column + region.columns; ++c) {
    const Tcgen05Lanes missing = region.lanes & ~tcgen05_memory(cta).written(c);
    if (!missing.any()) continue;
    return finding(warp, FindingKind::uninitialised,
                   attempt(warp, cta, region, operand) + ": column " + std::to_string(c) + " of lane " +
                       std::to_string(missing.first()) + " was never written");
  }
}

}  // namespace

Tcgen05Accesses::Id tcgen05_begin(Warp& warp, uint32_t lane, Tcgen05Accesses::Kind kind) {
  if (!warp.worker->checking) return 0;
  Cluster& cluster = *warp.cta->cluster;
  return tcgen05_accesses(cluster).begin(cluster.shadow, warp.in_cluster, lane,
                                         warp.frame->program->first + warp.pc - 1, kind);
}

void tcgen05_access(Warp& warp, Tcgen05Accesses::Id id, Cta& cta, const Tcgen05Region& region, bool read,
                    bool write, const char* operand) {
  check_columns(warp, cta, region, operand);
  if (!id) return;
  if (read) check_written(warp, cta, region, operand);
  Cluster& cluster = *warp.cta->cluster;
  const Tcgen05Accesses::Problem problem =
      tcgen05_accesses(cluster).access(cluster.shadow, cta.rank, {region, read, write, operand, id});
  if (write) tcgen05_memory(cta).mark_written(region);
  if (problem.kind != Kind::none) report(warp, problem, attempt(warp, cta, region, operand));
}

void tcgen05_seen(Warp& warp, Tcgen05Accesses::Id id) {
  Cluster& cluster = *warp.cta->cluster;
  if (id) tcgen05_accesses(cluster).seen(cluster.shadow, warp.in_cluster, id);
}

}  // namespace simulator
