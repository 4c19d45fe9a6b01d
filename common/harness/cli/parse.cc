#include <charconv>
#include <limits>
#include <sstream>

#include "common/harness/cli/choose.h"
#include "common/harness/cli/options.h"
#include "common/harness/cli/sizes.h"
#include "common/harness/cli/usage.h"
#include "common/harness/verify/precision.h"

namespace ladder {
namespace {

// A whole number in [low, high], written in decimal digits and nothing else.
template <class Integer>
Integer parse_number(const std::string& option, const std::string& text, Integer low, Integer high) {
  Integer value{};
  const char* end = text.data() + text.size();
  auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::invalid_argument || stopped != end)
    bad_usage(option + " takes a whole number, not '" + text + "'");
  if (error == std::errc::result_out_of_range || value < low || value > high)
    bad_usage(option + " must be between " + std::to_string(low) + " and " + std::to_string(high) + ", not " +
              text);
  return value;
}

std::optional<Input> input_of(const std::string& name) {
  if (name == "normal") return Input::normal;
  if (name == "integers") return Input::integers;
  if (name == "ones") return Input::ones;
  if (name == "zeros") return Input::zeros;
  return {};
}

bool is_problem(const std::string& name) {
  bool is = false;
  for_each_problem([&]<class Problem>() { is |= name == ProblemInfo<Problem>::name; });
  return is;
}

// Times are a GPU's alone, counts the simulator's.
void refuse_elsewhere(const std::string& option, const Rung& rung, DeviceKind device) {
  const bool on_gpu = device == DeviceKind::gpu;
  if (on_gpu && option == "--ctas")
    bad_usage("--ctas: a GPU runs all of them: use " + program_name(rung, DeviceKind::simulator));
  if (on_gpu && (option == "--counters" || option == "--source"))
    bad_usage(option + ": only on the simulator: use " + program_name(rung, DeviceKind::simulator) +
              ", or ncu");
  if (!on_gpu &&
      (option == "--sweep" || option == "--tune" || option == "--repeats" || option == "--launches" ||
       option == "--power" || option == "--input" || option == "--l2-set-aside"))
    bad_usage(option + ": the simulator measures no times: use " + program_name(rung, DeviceKind::gpu));
}

class Parser {
 public:
  Parser(const std::vector<std::string>& arguments, const Rung& rung, DeviceKind device)
      : arguments_(arguments), rung_(rung) {
    o_.device = device;
    if (device == DeviceKind::simulator) o_.reference = Reference::cpu;
  }

  Options parse() {
    for (; at_ < arguments_.size(); ++at_) {
      option_ = arguments_[at_];
      attached_.reset();  // --option=value
      if (const auto equals = option_.find('='); option_.starts_with("--") && equals != std::string::npos) {
        attached_ = option_.substr(equals + 1);
        option_.resize(equals);
      }
      if (!sweeps_over("models")) refuse_elsewhere(option_, rung_, o_.device);
      if (what() || sizes() || sweep() || instead_of_timing() || to_show() || how() || inputs()) continue;
      bad_usage(option_.starts_with("-")
                    ? "unknown option '" + option_ + "'"
                    : "unknown problem '" + option_ + "'; there is: " + known_problems(rung_));
    }
    choose(rung_, problem_, sizes_, shapes_given_, o_);
    return o_;
  }

 private:
  std::string value() {
    if (attached_) return *attached_;
    if (at_ + 1 == arguments_.size()) bad_usage(option_ + " needs a value");
    return arguments_[++at_];
  }
  std::string file() {
    std::string name = value();
    if (name.empty()) bad_usage(option_ + " needs a file name");
    return name;
  }
  int number(int low, int high) { return parse_number(option_, value(), low, high); }
  // The same for options that are one field: whether it is this one.
  bool is_flag(const char* name, bool& target) {
    if (option_ != name) return false;
    if (attached_) bad_usage(option_ + " takes no value");
    return target = true;
  }
  bool is_number(const char* name, int& target, int low, int high) {
    if (option_ != name) return false;
    target = number(low, high);
    return true;
  }
  bool is_file(const char* name, std::string& target) {
    if (option_ != name) return false;
    target = file();
    return true;
  }
  bool sweeps_over(const char* what) const {
    if (option_ != "--sweep") return false;
    return attached_ ? *attached_ == what : at_ + 1 < arguments_.size() && arguments_[at_ + 1] == what;
  }

  bool what() {
    if (is_problem(option_)) {
      if (!problem_.empty()) bad_usage("give one problem; without one gemm and fused_norm run");
      problem_ = option_;
    } else if (option_ == "-h") {
      o_.help = true;
    } else if (option_ == "--variant") {
      o_.variant = value();
      if (o_.variant.empty()) bad_usage("--variant needs a name (see --list)");
    } else if (option_ == "--type") {
      type(value());
    } else {
      return is_flag("--help", o_.help) || is_flag("--list", o_.list) || is_flag("--pad", o_.pad) ||
             is_flag("--ablate", o_.ablate);
    }
    return true;
  }

  void type(const std::string& name) {
    o_.type = precision_of(name);
    if (o_.type) return;
    std::string names;
    for (const Precision p : all_precisions) {
      if (!names.empty()) names += ", ";
      names += precision_name(p);
    }
    bad_usage("no type '" + name + "'; there is: " + names);
  }

  bool sizes() {
    if (option_ == "--size") {
      sizes_.all = number(1, max_dimension);
      return true;
    }
    for (const SizeName& each : size_names())
      if (option_ == "--" + each.name) {
        sizes_.set(each.name, number(1, max_dimension));
        return true;
      }
    return is_flag("--even", o_.even);
  }

  bool sweep() {
    if (option_ == "--shapes") {
      shapes_given_ = true;
      return is_number("--shapes", o_.model_shapes, 1, max_model_shapes);
    }
    if (option_ != "--sweep") return false;
    const bool models = sweeps_over("models"), over_k = sweeps_over("k");
    if (!models && !over_k) {
      if (attached_) bad_usage("--sweep takes no value but 'models' or 'k', not '" + *attached_ + "'");
      return is_flag("--sweep", o_.sweep);
    }
    value();
    o_.models = models;
    o_.over_k = over_k;
    return o_.sweep = true;
  }

  bool instead_of_timing() {
    return is_flag("--tune", o_.tune) || is_number("--power", o_.power_seconds, 1, 3600) ||
           is_flag("--verify-only", o_.verify_only) || is_number("--soak", o_.soak, 1, 1000000) ||
           is_number("--ctas", o_.ctas, 1, 1 << 20);
  }

  bool to_show() {
    return is_flag("--counters", o_.counters) || is_flag("--source", o_.source) ||
           is_file("--trace", o_.trace) || is_file("--json", o_.json) || is_flag("--table-rows", o_.rows);
  }

  bool how() {
    if (option_ == "--reference") {
      const std::string name = value();
      if (name != "cublas" && name != "cpu") bad_usage("--reference is cublas or cpu, not '" + name + "'");
      if (name == "cublas" && o_.device == DeviceKind::simulator)
        bad_usage("--reference cublas: the simulator has no cuBLAS; its reference is the CPU");
      o_.reference = name == "cpu" ? Reference::cpu : Reference::cublas;
    } else if (option_ == "--launches") {
      const std::string how = value();
      if (how != "stream" && how != "graph") bad_usage("--launches is stream or graph, not '" + how + "'");
      o_.launches = how == "graph" ? Launches::graph : Launches::stream;
    } else {
      return is_number("--repeats", o_.repeats, 1, 1000000) ||
             is_number("--l2-set-aside", o_.l2_set_aside, 1, 1024);
    }
    return true;
  }

  bool inputs() {
    if (option_ == "--input") {
      const std::string name = value();
      const auto input = input_of(name);
      if (!input) bad_usage("--input is normal, integers, ones or zeros, not '" + name + "'");
      o_.input = *input;
    } else if (option_ == "--seed") {
      o_.seed = parse_number<std::uint64_t>(option_, value(), 0, std::numeric_limits<std::uint64_t>::max());
    } else {
      return is_number("--outlier", o_.outlier, 1, 1 << 30);
    }
    return true;
  }

  const std::vector<std::string>& arguments_;
  const Rung& rung_;
  std::size_t at_ = 0;
  std::string option_, problem_;
  std::optional<std::string> attached_;
  Sizes sizes_;
  bool shapes_given_ = false;
  Options o_;
};

}  // namespace

bool Options::any_runs() const {
  return std::apply([](const auto&... choice) { return (choice.runs || ...); }, choices);
}

bool Options::any_shape() const {
  return std::apply([](const auto&... choice) { return (choice.shape.has_value() || ...); }, choices);
}

std::string program_name(const Rung& rung, DeviceKind device) {
  return std::string(rung.name) + (device == DeviceKind::simulator ? "_sim" : "");
}

Options parse_options(const std::vector<std::string>& arguments, const Rung& rung, DeviceKind device) {
  return Parser(arguments, rung, device).parse();
}

bool is_named(const std::string& names, const std::string& variant) {
  if (names.empty()) return true;
  std::istringstream all(names);
  for (std::string name; std::getline(all, name, ',');)
    if (name == variant) return true;
  return false;
}

}  // namespace ladder
