#include "common/harness/base/json.h"

#include <cmath>
#include <cstdio>

#include "common/harness/base/failure.h"
#include "common/harness/base/format.h"

namespace ladder {

static std::string number(double value) {
  return std::isfinite(value) ? format("%.6g", value) : "null";
}

std::string json_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += format("\\u%04x", c);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

JsonObject& JsonObject::raw(const char* name, const std::string& value) {
  body_ += (body_.empty() ? "" : ", ") + json_string(name) + ": " + value;
  return *this;
}
JsonObject& JsonObject::field(const char* name, const std::string& value) {
  return raw(name, json_string(value));
}
JsonObject& JsonObject::field(const char* name, std::int64_t value) {
  return raw(name, std::to_string(value));
}
JsonObject& JsonObject::field(const char* name, bool value) {
  return raw(name, value ? "true" : "false");
}
JsonObject& JsonObject::field(const char* name, const JsonObject& value) {
  return raw(name, value.text());
}
JsonObject& JsonObject::field(const char* name, double value) {
  return raw(name, number(value));
}

template <class Values, class Text>
static std::string array(const Values& values, const Text& text_of) {
  std::string text;
  for (const auto& value : values) text += (text.empty() ? "" : ", ") + text_of(value);
  return "[" + text + "]";
}
JsonObject& JsonObject::field(const char* name, const std::vector<double>& values) {
  return raw(name, array(values, number));
}
JsonObject& JsonObject::field(const char* name, const std::vector<std::string>& values) {
  return raw(name, array(values, json_string));
}
JsonObject& JsonObject::field(const char* name, const std::vector<JsonObject>& values) {
  return raw(name, array(values, [](const JsonObject& value) { return value.text(); }));
}

JsonLines::JsonLines(const std::string& path) : path_(path) {
  if (path.empty() || path == "-") return;
  file_.open(path, std::ios::app);
  if (!file_) throw Failure(Exit::bad_usage, "cannot write to --json '" + path + "'");
}

void JsonLines::write(const JsonObject& object) {
  if (path_.empty()) return;
  const std::string line = object.text() + "\n";
  bool written = true;
  if (path_ == "-")
    written = std::fputs(line.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  else
    written = bool(file_ << line << std::flush);
  if (!written) throw Failure(Exit::cannot_run, "writing to '" + path_ + "' failed");
}

}  // namespace ladder
