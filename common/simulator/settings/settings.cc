#include "common/simulator/settings/settings.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "common/simulator/settings/default_checks.h"

namespace simulator {
namespace {

[[noreturn]] void refuse(const char* name, std::string_view value, const char* allowed) {
  throw std::invalid_argument(std::string(name) + "=" + std::string(value) + ": it must be " + allowed);
}

// Null where the variable is not set or empty.
const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

template <class T>
bool is_number(std::string_view text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

template <class T>
void read_number(const char* name, T& number, T highest) {
  const char* value = variable(name);
  if (value == nullptr) return;
  const std::string_view text = value;
  if (!is_number(text, number) || number < 0 || number > highest) {
    refuse(name, text, ("a number from 0 to " + std::to_string(highest)).c_str());
  }
}

void read_flag(const char* name, bool& flag) {
  int number = flag;
  read_number<int>(name, number, 1);
  flag = number != 0;
}

Settings read_environment() {
  Settings settings;
  settings.checks = default_checks();
  settings.strict = default_strict();
  if (const char* value = variable("SIMULATOR_DEVICE")) {
    settings.device = value;
    constexpr std::string_view known[] = {"a100", "l40s", "h200", "b200"};
    if (std::find(std::begin(known), std::end(known), settings.device) == std::end(known)) {
      refuse("SIMULATOR_DEVICE", value, "a100, l40s, h200 or b200");
    }
  }
  read_number<int>("SIMULATOR_SMS", settings.multiprocessors, 1024);
  read_number<uint64_t>("SIMULATOR_CTAS", settings.ctas, UINT64_MAX);
  read_number<uint64_t>("SIMULATOR_SEED", settings.seed, UINT64_MAX);
  read_number<int>("SIMULATOR_THREADS", settings.threads, 4096);
  if (const char* value = variable("SIMULATOR_CHECKS")) {
    const std::string_view text = value;
    if (text == "off") {
      settings.checks = Checks::off;
    } else if (text == "report") {
      settings.checks = Checks::report;
    } else if (text == "fail") {
      settings.checks = Checks::fail;
    } else {
      refuse("SIMULATOR_CHECKS", text, "off, report or fail");
    }
  }
  read_flag("SIMULATOR_STRICT", settings.strict);
  read_flag("SIMULATOR_SURVIVE", settings.survive);
  if (const char* value = variable("SIMULATOR_PTX")) settings.ptx = value;
  if (const char* value = variable("SIMULATOR_COUNTERS")) settings.counters = value;
  if (const char* value = variable("SIMULATOR_TRACE")) settings.trace = value;
  if (const char* value = variable("SIMULATOR_TRACE_WARP")) {
    const std::string_view text = value;
    const size_t colon = text.find(':');
    if (colon == std::string_view::npos || !is_number(text.substr(0, colon), settings.trace_cta) ||
        !is_number(text.substr(colon + 1), settings.trace_warp)) {
      refuse("SIMULATOR_TRACE_WARP", text, "CTA:WARP, two numbers");
    }
  }
  read_number<uint64_t>("SIMULATOR_TRACE_LIMIT", settings.trace_limit, UINT64_MAX);
  read_flag("SIMULATOR_TRACE_EVENTS", settings.trace_events);
  read_flag("SIMULATOR_SPEED", settings.speed);
  constexpr uint64_t million = 1'000'000;
  read_number<uint64_t>("SIMULATOR_LIMIT", settings.limit, UINT64_MAX / million);
  settings.limit *= million;
  int seconds = isatty(STDERR_FILENO) ? 10 : 30;
  read_number<int>("SIMULATOR_HEARTBEAT", seconds, 86400);
  settings.heartbeat = seconds;
  return settings;
}

}  // namespace

Settings& settings() {
  static Settings settings = read_environment();
  return settings;
}

}  // namespace simulator
