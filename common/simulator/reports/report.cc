// Counters as JSON, as a table, and beside the source.
#include "common/simulator/reports/report.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>
#include <utility>

#include "common/simulator/reports/format.h"
#include "common/simulator/reports/overlap.h"

namespace simulator {
namespace {

struct SharedWavefronts {
  uint64_t actual, ideal;
};

double ratio(uint64_t of, uint64_t to) {
  return to == 0 ? 0 : static_cast<double>(of) / static_cast<double>(to);
}

// Of all that goes through the banks of shared memory.
SharedWavefronts shared_wavefronts(const AccessCounts& sums) {
  SharedWavefronts all{0, 0};
  for (const Counts* counts :
       {&sums.shared_load, &sums.shared_store, &sums.async_copy, &sums.wgmma, &sums.tcgen05, &sums.atomic}) {
    all.actual += counts->wavefronts;
    all.ideal += counts->ideal_wavefronts;
  }
  return all;
}

// ---- JSON

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += format("\\u%04x", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

class Object {
 public:
  Object& raw(const std::string& name, const std::string& value) {
    body_ += (body_.empty() ? "" : ", ") + quoted(name) + ": " + value;
    return *this;
  }
  Object& field(const std::string& name, const std::string& value) { return raw(name, quoted(value)); }
  Object& field(const std::string& name, uint64_t value) { return raw(name, std::to_string(value)); }
  Object& field(const std::string& name, double value) { return raw(name, format("%.6g", value)); }
  std::string text() const { return "{" + body_ + "}"; }

 private:
  std::string body_;
};

template <class T, class F>
std::string array(const std::vector<T>& values, F text_of) {
  std::string out;
  for (const T& value : values) out += (out.empty() ? "" : ", ") + text_of(value);
  return "[" + out + "]";
}

// Nsight Compute's names where it has one that means the same; "ptx__" in place of "smsp__" where its own
// counts machine instructions. only_used: leave out what did not occur.
void add_counts(Object& o, const AccessCounts& sums, bool only_used) {
  o.field("ptx__inst_executed", sums.total.executed).field("ptx__thread_inst_executed", sums.total.lanes);
  o.field("ptx__average_thread_inst_executed", ratio(sums.total.lanes, sums.total.executed));
  auto global = [&](const std::string& op, const Counts& counts) {
    if (only_used && counts.requests == 0) return;
    const std::string suffix = "pipe_lsu_mem_global_op_" + op;
    o.field("l1tex__t_requests_" + suffix + ".sum", counts.requests);
    o.field("l1tex__t_sectors_" + suffix + ".sum", counts.sectors);
    o.field("l1tex__average_t_sectors_per_request_" + suffix + ".ratio",
            ratio(counts.sectors, counts.requests));
    o.field("ptx__bytes_mem_global_op_" + op, counts.bytes);
  };
  global("ld", sums.global_load);
  global("st", sums.global_store);
  auto shared = [&](const std::string& op, const Counts& counts) {
    if (only_used && counts.executed == 0 && counts.wavefronts == 0) return;
    o.field("ptx__inst_executed_op_shared_" + op, counts.requests);
    o.field("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_" + op + ".sum", counts.wavefronts);
    o.field("ptx__bytes_mem_shared_op_" + op, counts.bytes);
  };
  shared("ld", sums.shared_load);
  shared("st", sums.shared_store);
  auto matrices = [&](const std::string& op, const Counts& counts) {
    if (counts.requests == 0) return;
    o.field("ptx__inst_executed_op_" + op, counts.requests);
    o.field("ptx__wavefronts_mem_shared_op_" + op, counts.wavefronts);
    o.field("ptx__wavefronts_mem_shared_op_" + op + "_ideal", counts.ideal_wavefronts);
  };
  matrices("ldsm", sums.ldmatrix);
  matrices("stsm", sums.stmatrix);
  auto products = [&](const std::string& op, const Counts& counts) {
    if (counts.requests == 0) return;
    o.field("ptx__wavefronts_mem_shared_op_" + op, counts.wavefronts);
    o.field("ptx__bytes_mem_shared_op_" + op, counts.bytes);
  };
  products("wgmma", sums.wgmma);
  products("tcgen05", sums.tcgen05);
  if (const Counts& copies = sums.async_copy; copies.requests != 0) {
    o.field("l1tex__t_requests_pipe_lsu_mem_global_op_ldgsts.sum", copies.requests);
    o.field("l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts.sum", copies.sectors);
    o.field("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum", copies.wavefronts);
    o.field("ptx__bytes_op_ldgsts", copies.bytes);
  }
  if (const Counts& bulk = sums.bulk_copy; bulk.requests != 0) {
    o.field("ptx__inst_executed_op_bulk", bulk.requests);
    o.field("ptx__sectors_mem_global_op_bulk", bulk.sectors)
        .field("ptx__bytes_mem_global_op_bulk", bulk.bytes);
  }
  const auto [wavefronts, ideal] = shared_wavefronts(sums);
  if (!only_used || wavefronts != 0) {
    o.field("memory_l1_wavefronts_shared", wavefronts).field("memory_l1_wavefronts_shared_ideal", ideal);
    o.field("derived__memory_l1_wavefronts_shared_excessive", wavefronts - ideal);
  }
  if (sums.local.requests != 0) {
    o.field("ptx__inst_executed_op_local", sums.local.requests)
        .field("ptx__bytes_mem_local", sums.local.bytes);
  }
  if (sums.atomic.requests != 0) {
    o.field("ptx__inst_executed_op_atomic", sums.atomic.requests)
        .field("ptx__sectors_mem_op_atomic", sums.atomic.sectors);
    o.field("ptx__bytes_mem_op_atomic", sums.atomic.bytes);
  }
  for (const auto& [name, value] : overlap_numbers(sums)) o.field("overlap__" + name, value);
}

// ---- Table

// Digits in groups of three: "12 345 678".
std::string grouped(uint64_t value) {
  std::string digits = std::to_string(value);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<size_t>(at), " ");
  return digits;
}

constexpr size_t table_width = 100;

std::string access_row(const char* kind, const std::vector<std::string>& cells) {
  std::string row = format("  %-13s", kind);
  for (const std::string& cell : cells) row += format(" %16s", cell.c_str());
  return row + "\n";
}

std::string sector_row(const char* kind, const Counts& counts) {
  if (counts.requests == 0) return "";
  return access_row(kind, {grouped(counts.requests), grouped(counts.sectors),
                           format("%.2f", ratio(counts.sectors, counts.requests)), grouped(counts.bytes)});
}

std::string wavefront_row(const char* kind, const Counts& counts) {
  if (counts.wavefronts == 0) return "";
  return access_row(kind,
                    {grouped(counts.requests), grouped(counts.wavefronts), grouped(counts.ideal_wavefronts),
                     grouped(counts.wavefronts - counts.ideal_wavefronts), grouped(counts.bytes)});
}

// Breaks at spaces; what follows the first line is indented by two more columns.
std::string wrapped(const std::string& text, size_t indent) {
  std::string out, line(indent, ' ');
  size_t columns = indent;
  bool first = true;  // of its line
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    const size_t width = static_cast<size_t>(  // characters, not bytes: those that begin one
        std::count_if(word.begin(), word.end(), [](char c) { return (c & 0xc0) != 0x80; }));
    if (!first && columns + 1 + width > table_width) {
      out += line + "\n";
      line.assign(indent + 2, ' ');
      columns = indent + 2;
      first = true;
    }
    line += (first ? "" : " ") + word;
    columns += width + !first;
    first = false;
    at = end + 1;
  }
  return out + line + "\n";
}

// The most frequent instructions.
std::string mix_lines(const KernelCounts& kernel) {
  std::vector<std::pair<std::string, uint64_t>> mix(kernel.mix.begin(), kernel.mix.end());
  std::stable_sort(mix.begin(), mix.end(), [](const auto& x, const auto& y) { return x.second > y.second; });
  if (mix.size() > 12) mix.resize(12);
  uint64_t others = kernel.total.executed;
  std::string text = "instructions:";
  for (const auto& [name, executed] : mix) {
    others -= executed;
    text += " " + name + format(" %.1f %%,", 100 * ratio(executed, kernel.total.executed));
  }
  if (others != 0) {
    text += format(" others %.1f %%", 100 * ratio(others, kernel.total.executed));
  } else {
    text.pop_back();
  }
  return wrapped(text, 2);
}

std::string table_of(const KernelCounts& kernel) {
  std::string text = wrapped(kernel.name, 0);
  text +=
      format("  %s launch%s, %s CTAs, %s warps, %s finding%s\n", grouped(kernel.launches).c_str(),
             kernel.launches == 1 ? "" : "es", grouped(kernel.ctas).c_str(), grouped(kernel.warps).c_str(),
             grouped(kernel.findings).c_str(), kernel.findings == 1 ? "" : "s");
  if (kernel.ctas_left_out != 0)
    text += format("  %s more CTAs did not run (SIMULATOR_CTAS): all counts are of the others\n",
                   grouped(kernel.ctas_left_out).c_str());
  text += format("  %s PTX instructions of a warp, %.1f active lanes on average\n",
                 grouped(kernel.total.executed).c_str(), ratio(kernel.total.lanes, kernel.total.executed));
  const std::string sectors =
      sector_row("global load", kernel.global_load) + sector_row("global store", kernel.global_store) +
      sector_row("async copy", kernel.async_copy) + sector_row("bulk copy", kernel.bulk_copy) +
      (kernel.atomic.sectors != 0 ? sector_row("atomic", kernel.atomic) : "");
  if (!sectors.empty()) text += access_row("", {"requests", "sectors", "per request", "bytes"}) + sectors;
  const std::string wavefronts =
      wavefront_row("shared load", kernel.shared_load) + wavefront_row("  ldmatrix", kernel.ldmatrix) +
      wavefront_row("shared store", kernel.shared_store) + wavefront_row("  stmatrix", kernel.stmatrix) +
      wavefront_row("wgmma", kernel.wgmma) + wavefront_row("tcgen05", kernel.tcgen05) +
      wavefront_row("async copy", kernel.async_copy) + wavefront_row("shared atomic", kernel.atomic);
  if (!wavefronts.empty())
    text += access_row("", {"requests", "wavefronts", "ideal", "excess", "bytes"}) + wavefronts;
  if (kernel.local.requests != 0) {
    text += access_row("", {"requests", "bytes"}) +
            access_row("local memory", {grouped(kernel.local.requests), grouped(kernel.local.bytes)});
  }
  if (kernel.tensor_instructions != 0) {
    text += format("  %s mma of a warp, %s multiply-adds\n", grouped(kernel.tensor_instructions).c_str(),
                   grouped(kernel.tensor_macs).c_str());
  }
  for (const std::string& line : overlap_lines(kernel)) text += wrapped(line, 2);
  text += mix_lines(kernel);
  for (const std::string& note : kernel.notes) text += wrapped("note: " + note, 2);
  return text;
}

// ---- Listing

// The same file, or one named by a longer path than the other.
bool same_file(const std::string& x, const std::string& y) {
  std::error_code error;
  if (x == y || std::filesystem::equivalent(x, y, error)) return true;
  const std::string& longer = x.size() > y.size() ? x : y;
  const std::string& shorter = x.size() > y.size() ? y : x;
  return !shorter.empty() && longer.ends_with("/" + shorter);
}

std::string cells_of(const LineCounts& line) {
  const uint64_t requests = line.global_load.requests + line.global_store.requests + line.async_copy.requests;
  const uint64_t sectors = line.global_load.sectors + line.global_store.sectors + line.async_copy.sectors;
  const auto [wavefronts, ideal] = shared_wavefronts(line);
  std::string cells = format("%13s %5.1f", grouped(line.total.executed).c_str(),
                             ratio(line.total.lanes, line.total.executed));
  cells += requests == 0 ? format(" %8s", "") : format(" %8.2f", ratio(sectors, requests));
  cells += wavefronts == 0
               ? format(" %12s %10s", "", "")
               : format(" %12s %10s", grouped(wavefronts).c_str(), grouped(wavefronts - ideal).c_str());
  cells += format(" %10s", overlap_cell(line).c_str());
  return cells;
}

LineCounts& operator+=(LineCounts& x, const LineCounts& y) {
  x.total += y.total;
  x.global_load += y.global_load;
  x.global_store += y.global_store;
  x.shared_load += y.shared_load;
  x.shared_store += y.shared_store;
  x.local += y.local;
  x.atomic += y.atomic;
  x.async_copy += y.async_copy;
  x.bulk_copy += y.bulk_copy;
  x.wgmma += y.wgmma;
  x.tcgen05 += y.tcgen05;
  add_overlap(x, y);
  return x;
}

}  // namespace

std::string counters_json(const std::vector<KernelCounts>& kernels) {
  const std::string list = array(kernels, [](const KernelCounts& kernel) {
    Object o;
    o.field("kernel", kernel.name).field("launches", kernel.launches);
    o.field("ctas", kernel.ctas).field("warps", kernel.warps).field("findings", kernel.findings);
    if (kernel.ctas_left_out != 0) o.field("ctas_left_out", kernel.ctas_left_out);
    add_counts(o, kernel, false);
    if (kernel.tensor_instructions != 0) {
      o.field("ptx__inst_executed_op_mma", kernel.tensor_instructions);
      o.field("ptx__multiply_adds_op_mma", kernel.tensor_macs);
    }
    Object mix;
    for (const auto& [name, executed] : kernel.mix) mix.field(name, executed);
    o.raw("mix", mix.text());
    o.raw("lines", array(kernel.lines, [](const LineCounts& line) {
            Object l;
            l.field("file", line.file).field("line", uint64_t{line.line});
            add_counts(l, line, true);
            return l.text();
          }));
    o.raw("notes", array(kernel.notes, quoted));
    return o.text();
  });
  return Object().raw("kernels", list).text() + "\n";
}

std::string counters_table(const std::vector<KernelCounts>& kernels) {
  std::string text;
  for (const KernelCounts& kernel : kernels) text += (text.empty() ? "" : "\n") + table_of(kernel);
  return text;
}

std::string annotated_listing(const std::vector<KernelCounts>& kernels, const std::string& file) {
  std::ifstream source(file);
  if (!source) return "";
  std::map<uint32_t, LineCounts> counted;
  for (const KernelCounts& kernel : kernels) {
    for (const LineCounts& line : kernel.lines) {
      if (line.line != 0 && same_file(line.file, file)) counted[line.line] += line;
    }
  }
  const std::string blank(63, ' ');
  std::string text = format("%13s %5s %8s %12s\n", "PTX", "", "sectors/", "shared");
  text += format("%13s %5s %8s %12s %10s %10s %6s\n", "instructions", "lanes", "request", "wavefronts",
                 "excess", "overlap", "line");
  uint32_t number = 0;
  for (std::string line; std::getline(source, line);) {
    ++number;
    const auto found = counted.find(number);
    std::string row =
        (found == counted.end() ? blank : cells_of(found->second)) + format(" %6u  ", number) + line;
    text += row.substr(0, row.find_last_not_of(" \r") + 1) + "\n";
  }
  return text;
}

}  // namespace simulator
