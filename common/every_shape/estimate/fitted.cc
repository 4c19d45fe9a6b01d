#include "common/every_shape/estimate/fitted.h"

#include <array>
#include <cstdio>
#include <initializer_list>
#include <iterator>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>

namespace ladder::every_shape {

// In the file that CMake makes of h200.txt and h100.txt.
extern const char* const text_of_h200;
extern const char* const text_of_h100;

namespace {

constexpr std::array<const char*, kinds> kind_names{"split",          "whole",  "ping_pong", "straight",
                                                    "straight_split", "narrow", "in_memory", "vector"};

struct Cost {
  const char* name;
  double Costs::*value;
};
constexpr Cost costs[] = {{"intake", &Costs::intake},
                          {"l2", &Costs::l2},
                          {"tensor", &Costs::tensor},
                          {"exchange", &Costs::exchange},
                          {"exchange_element", &Costs::exchange_element},
                          {"exchange_in_memory", &Costs::exchange_in_memory},
                          {"exchange_element_in_memory", &Costs::exchange_element_in_memory}};

// Reads the rest of a line: these numbers, and nothing else.
bool read(std::istream& line, std::span<float> numbers) {
  for (float& number : numbers) line >> number;
  std::string more;
  return line && !(line >> more);
}
bool read(std::istream& line, std::initializer_list<double*> numbers) {
  for (double* const number : numbers) line >> *number;
  std::string more;
  return line && !(line >> more);
}

// A line begins with what its numbers are. `known` has what was read, and inputs how many.
bool read_line(std::istream& line, const std::string& what, Fitted& to, std::set<std::string>& known,
               int& inputs) {
  if (what == "input") return inputs < Network::inputs && read(line, to.network.weight[inputs++]);
  std::string name;
  if (what == "kernel") {
    Fitted::Kernel kernel;
    if (!(line >> kernel.name) || !known.insert("kernel " + kernel.name).second) return false;
    if (!read(line, kernel.traits)) return false;
    to.kernels.push_back(kernel);
    return true;
  }
  if (what == "kind" && line >> name) {
    for (int i = 0; i < kinds; ++i)
      if (name == kind_names[i] && known.insert("kind " + name).second) {
        Costs::OfKind& of = to.costs.of_kind[i];
        return read(line, {&of.start, &of.wave, &of.store, &of.pass});
      }
    return false;
  }
  if (!known.insert(what).second) return false;
  if (what == "bias") return read(line, to.network.bias);
  if (what == "out") return read(line, to.network.out);
  for (const Cost& cost : costs)
    if (what == cost.name) return read(line, {&(to.costs.*cost.value)});
  return false;
}

std::string rounded(double x, const char* format) {
  char text[32];
  std::snprintf(text, sizeof text, format, x);
  return text;
}
void append(std::string& text, const std::string& what, std::span<const float> numbers) {
  text += what;
  for (const float number : numbers) text += rounded(number, " %.4f");
  text += '\n';
}

}  // namespace

Fitted read_fitted(std::string_view text) {
  Fitted fitted{};
  std::set<std::string> known;
  int inputs = 0, number = 0;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line);
    std::string what;
    if (!(words >> what) || what[0] == '#') continue;
    if (!read_line(words, what, fitted, known, inputs))
      throw std::invalid_argument("line " + std::to_string(number) + " of what is fitted: '" + what + "'");
  }
  const std::size_t all = std::size(costs) + kinds + 2 + fitted.kernels.size();
  if (known.size() != all || inputs != Network::inputs)
    throw std::invalid_argument("line " + std::to_string(number) + " of what is fitted is the last: too few");
  return fitted;
}

std::string text_of(const Fitted& f, Card card, std::size_t shapes) {
  std::string text = "# What the estimate is made of on an ";
  text.append(card == Card::h200 ? "H200" : "H100").append(", as every_shape_fit prints it: fitted to ");
  text.append(std::to_string(shapes)).append(" drawn shapes, such that the\n");
  text +=
      "# choice loses least. docs/deeper/every_shape_estimate.md says how.\n\n"
      "# A kind of kernel: start, wave, store, pass.\n";
  for (int i = 0; i < kinds; ++i) {
    const Costs::OfKind& of = f.costs.of_kind[i];
    text.append("kind ").append(kind_names[i]);
    for (const double cost : {of.start, of.wave, of.store, of.pass}) text += rounded(cost, " %.4g");
    text += '\n';
  }
  text += '\n';
  for (const Cost& cost : costs) text.append(cost.name).append(rounded(f.costs.*cost.value, " %.4g\n"));
  text +=
      "\n# The network: a line of weights for each input, then the hidden layer's biases, then what its "
      "output "
      "adds up.\n";
  for (const auto& of_input : f.network.weight) append(text, "input", of_input);
  append(text, "bias", f.network.bias);
  append(text, "out", f.network.out);
  text += "\n# Traits that the network has learned of each kernel.\n";
  for (const Fitted::Kernel& kernel : f.kernels) append(text, "kernel " + kernel.name, kernel.traits);
  return text;
}

const Fitted& fitted_to(Card card) {
  static const Fitted h200 = read_fitted(text_of_h200), h100 = read_fitted(text_of_h100);
  return card == Card::h200 ? h200 : h100;
}

}  // namespace ladder::every_shape
