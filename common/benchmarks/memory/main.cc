// What it costs to bring data to a kernel, by every way there is: copies from pageable and from pinned
// memory, kernels that read the host's memory themselves, pages that migrate. Each way on its own, and the
// whole of it: 256 MiB in, one pass, and out again.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "common/benchmarks/memory/ways.h"
#include "common/benchmarks/program.h"
#include "common/harness/measure/benchmark.h"
#include "common/harness/measure/nvml.h"
#include "common/harness/report/report.h"

namespace ladder {
namespace {

constexpr std::size_t bytes = std::size_t(256) << 20;  // more than any L2; of managed memory never more
constexpr int warm_samples = 2, samples = 15;

// "32.0 GT/s PCIe x16", what the card can do: idle, the link is slower. Empty where the system does not say.
std::string host_link() {
  int device = 0;
  char id[32] = "";
  check(cudaGetDevice(&device), "getting the device");
  check(cudaDeviceGetPCIBusId(id, sizeof id, device), "getting the device's PCI address");
  for (char& c : id) c = char(std::tolower(static_cast<unsigned char>(c)));
  std::string folder = "/sys/bus/pci/devices/", speed, width;
  folder += id;
  std::getline(std::ifstream(folder + "/max_link_speed"), speed);
  std::getline(std::ifstream(folder + "/max_link_width"), width);
  if (speed.empty() || width.empty()) return {};
  return speed.append(" x").append(width);
}

struct Sampled {
  std::vector<double> us;
  CardState card;
  bool correct = false;  // after the last sample
};

// Between two events in a stream that is idle before, or still busy with what prepare() has enqueued. What
// the host does in run() lies between them, too.
Sampled measure_way(const memory::Trial& trial) {
  cudaStream_t stream = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
  check(cudaEventCreate(&begin), "creating an event");
  check(cudaEventCreate(&end), "creating an event");
  Nvml nvml;
  Sampled sampled;
  for (int i = 0; i < warm_samples + samples; ++i) {
    trial.prepare(stream);
    check(cudaEventRecord(begin, stream), "recording an event");
    trial.run(stream);
    check(cudaEventRecord(end, stream), "recording an event");
    nvml.sample();
    check(cudaEventSynchronize(end), "running a way");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end), "reading an event");
    if (i >= warm_samples) sampled.us.push_back(ms * 1000.0);
  }
  sampled.correct = trial.correct();
  sampled.card = nvml.state();
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  cudaStreamDestroy(stream);
  return sampled;
}

void record(JsonLines& json, const System& system, const std::string& link, const memory::Way& way,
            const Sampled& sampled) {
  const double median_us = quantile(sampled.us, 0.5), gbps = double(bytes) / median_us / 1e3;
  std::printf("%-26s %9.0f us %8.4g GB/s  %s\n", way.name, median_us, gbps, way.what);
  std::fflush(stdout);
  JsonObject o;
  o.field("record", "memory").field("way", way.name).field("what", way.what);
  o.field("bytes", std::uint64_t(bytes)).field("gbps", gbps).field("median_us", median_us);
  o.field("p10_us", quantile(sampled.us, 0.1)).field("p90_us", quantile(sampled.us, 0.9));
  o.field("repeats", int(sampled.us.size()));
  add_system(o, system);
  add_card_state(o, sampled.card);
  if (!link.empty()) o.field("link", link);
  json.write(o);
}

void run(const System& system, const std::string& only, JsonLines& json) {
  const std::string link = host_link();
  std::printf("%s, driver %s, CUDA %s%s%s\n\n%-26s %12s %13s  %s\n", system.device.c_str(),
              system.driver.c_str(), system.cuda.c_str(), link.empty() ? "" : ", ", link.c_str(), "way",
              "256 MiB in", "", "what");
  std::vector<memory::Way> ways = memory::steps();
  const std::vector<memory::Way> whole = memory::whole();
  ways.insert(ways.end(), whole.begin(), whole.end());
  // Managed memory is the likeliest to be missing: what comes before it is written by then.
  auto is_managed = [](const memory::Way& way) {
    return std::string(way.name).find("managed") != std::string::npos;
  };
  std::stable_partition(ways.begin(), ways.end(), [&](const auto& way) { return !is_managed(way); });
  keep_named(ways, only, "way");

  const memory::Numbers numbers = memory::numbers(bytes);
  for (const memory::Way& way : ways) {
    Sampled sampled;
    try {
      sampled = measure_way(way.make(numbers));
    } catch (const Failure& failure) {
      std::printf("%-26s not possible here: %s\n", way.name, failure.what());
      cudaGetLastError();
      check(cudaDeviceSynchronize(), way.name);  // an error that stays is a fault, of a kernel or of the card
      continue;
    }
    if (!sampled.correct)
      throw Failure(Exit::wrong_result, std::string(way.name).append(": the data is wrong"));
    record(json, system, link, way, sampled);
  }
}

}  // namespace
}  // namespace ladder

int main(int argc, char** argv) {
  return ladder::run_benchmark(
      "memory",
      "Measures how 256 MiB in the host's memory reach a kernel, and the host again: by copies from pageable "
      "and\n"
      "pinned memory, by a kernel that reads mapped memory, and by managed memory whose pages migrate.\n"
      "  --only WORD   the ways with this word in their names, such as pinned",
      argc, argv, ladder::run);
}
