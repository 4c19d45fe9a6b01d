#include "common/harness/backend/counters.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "common/harness/base/format.h"
#include "common/harness/base/json.h"

namespace ladder {
namespace {

// Three decimals, as hardware_counters.py writes them.
double rounded(double value) {
  return double(std::llround(value * 1000)) / 1000;
}

// The most frequent first; equals by name.
std::vector<std::pair<std::string, std::uint64_t>> sorted_mix(const Counters& c) {
  std::vector<std::pair<std::string, std::uint64_t>> mix(c.mix.begin(), c.mix.end());
  std::stable_sort(mix.begin(), mix.end(), [](const auto& x, const auto& y) { return x.second > y.second; });
  return mix;
}

}  // namespace

JsonObject counters_json(const Counters& c) {
  JsonObject o;
  if (c.ctas_left_out > 0) o.field("ctas_left_out", c.ctas_left_out);
  o.field("ptx_instructions", c.instructions).field("active_lanes", rounded(c.active_lanes()));
  auto in_sectors = [&](const std::string& name, const AccessCounts& counts) {
    o.field((name + "_requests").c_str(), counts.requests).field((name + "_sectors").c_str(), counts.sectors);
    o.field((name + "_sectors_per_request").c_str(), rounded(counts.sectors_per_request()));
    o.field((name + "_bytes").c_str(), counts.bytes);
  };
  auto wavefronts = [&](const std::string& name, const AccessCounts& counts) {
    o.field((name + "_wavefronts").c_str(), counts.wavefronts);
    o.field((name + "_wavefronts_ideal").c_str(), counts.ideal_wavefronts);
  };
  auto in_wavefronts = [&](const std::string& name, const AccessCounts& counts) {
    o.field((name + "_requests").c_str(), counts.requests);
    wavefronts(name, counts);
  };
  AccessCounts loads = c.global_load;  // as the hardware's counter has it, cp.async is a load, too
  loads += c.async_copy;
  in_sectors("global_load", loads);
  in_sectors("global_store", c.global_store);
  in_wavefronts("shared_load", c.shared_load);
  in_wavefronts("shared_store", c.shared_store);
  o.field("shared_wavefronts", c.wavefronts()).field("shared_wavefronts_ideal", c.ideal_wavefronts());
  if (c.local.requests > 0) in_sectors("local", c.local);
  if (c.atomic.requests > 0) in_sectors("atomic", c.atomic);
  if (c.async_copy.requests > 0) {
    in_sectors("async_copy", c.async_copy);
    wavefronts("async_copy", c.async_copy);
  }
  if (c.bulk_copy.requests > 0) in_sectors("bulk_copy", c.bulk_copy);
  if (c.wgmma.requests > 0) in_wavefronts("wgmma", c.wgmma);
  if (c.tcgen05.requests > 0) in_wavefronts("tcgen05", c.tcgen05);
  if (c.ldmatrix.requests > 0) in_wavefronts("ldmatrix", c.ldmatrix);
  if (c.stmatrix.requests > 0) in_wavefronts("stmatrix", c.stmatrix);
  if (c.tensor_instructions > 0) {
    o.field("tensor_instructions", c.tensor_instructions).field("tensor_macs", c.tensor_macs);
  }
  for (const auto& [name, value] : c.overlap) {
    if (value == std::floor(value)) {
      o.field(name.c_str(), static_cast<std::uint64_t>(value));
    } else {
      o.field(name.c_str(), rounded(value));
    }
  }
  return o;
}

JsonObject instruction_mix_json(const Counters& c) {
  JsonObject o;
  for (const auto& [instruction, executed] : sorted_mix(c)) o.field(instruction.c_str(), executed);
  return o;
}

std::string counters_text(const std::string& what, const Counters& c) {
  std::string text = what + ": " + std::to_string(c.ctas) + " CTAs, " + std::to_string(c.warps) + " warps\n";
  if (c.ctas_left_out > 0) text += "  " + std::to_string(c.ctas_left_out) + " more CTAs did not run\n";
  text += format("  %-14s %12s %12s %12s %12s %12s %12s\n", "access", "requests", "sectors", "per request",
                 "wavefronts", "ideal", "excess");
  auto row = [&](const char* kind, const AccessCounts& counts, bool global, bool shared) {
    if (counts.requests == 0) return;
    std::string cells[6] = {std::to_string(counts.requests), "", "", "", "", ""};
    if (global) {
      cells[1] = std::to_string(counts.sectors);
      cells[2] = format("%.2f", counts.sectors_per_request());
    }
    if (shared) {
      cells[3] = std::to_string(counts.wavefronts);
      cells[4] = std::to_string(counts.ideal_wavefronts);
      cells[5] = std::to_string(counts.wavefronts - counts.ideal_wavefronts);
    }
    std::string line = format("  %-14s", kind);
    for (const std::string& cell : cells) line += format(" %12s", cell.c_str());
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  };
  row("global load", c.global_load, true, false);
  row("global store", c.global_store, true, false);
  row("async copy", c.async_copy, true, true);
  row("bulk copy", c.bulk_copy, true, false);
  row("shared load", c.shared_load, false, true);
  row("  ldmatrix", c.ldmatrix, false, true);
  row("shared store", c.shared_store, false, true);
  row("  stmatrix", c.stmatrix, false, true);
  row("wgmma", c.wgmma, false, true);
  row("tcgen05", c.tcgen05, false, true);
  row("local", c.local, true, false);
  row("atomic", c.atomic, true, false);
  text += format("  %llu PTX instructions, %.2f of 32 lanes active in each\n",
                 static_cast<unsigned long long>(c.instructions), c.active_lanes());
  if (c.tensor_instructions > 0) {
    text += format("  %llu mma of a warp: %llu multiply-adds\n",
                   static_cast<unsigned long long>(c.tensor_instructions),
                   static_cast<unsigned long long>(c.tensor_macs));
  }
  for (const std::string& line : c.overlap_lines) text += "  " + line + "\n";
  std::string most;
  int named = 0;
  for (const auto& [instruction, executed] : sorted_mix(c)) {
    if (++named > 6) break;
    most += (most.empty() ? "" : ", ") + instruction +
            format(" %.1f %%", 100.0 * double(executed) / double(c.instructions));
  }
  if (!most.empty()) text += "  most of them: " + most + "\n";
  for (const std::string& note : c.notes) text += "  note: " + note + "\n";
  return text;
}

}  // namespace ladder
