// JSON, written only.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace ladder {

// One JSON object, written field by field in order.
class JsonObject {
 public:
  JsonObject& field(const char* name, const std::string& value);
  JsonObject& field(const char* name, const char* value) { return field(name, std::string(value)); }
  JsonObject& field(const char* name, double value);  // 6 significant digits; null where it is not finite
  JsonObject& field(const char* name, const std::vector<double>& values);
  JsonObject& field(const char* name, std::int64_t value);
  JsonObject& field(const char* name, std::uint64_t value) { return raw(name, std::to_string(value)); }
  JsonObject& field(const char* name, int value) { return field(name, std::int64_t(value)); }
  JsonObject& field(const char* name, bool value);
  JsonObject& field(const char* name, const JsonObject& value);
  JsonObject& field(const char* name, const std::vector<std::string>& values);
  JsonObject& field(const char* name, const std::vector<JsonObject>& values);
  std::string text() const { return "{" + body_ + "}"; }

 private:
  JsonObject& raw(const char* name, const std::string& value);
  std::string body_;
};

std::string json_string(const std::string& text);  // quoted and escaped

// A file that gets one object per line, appended. Throws Failure(Exit::bad_usage) when it cannot be opened
// and Failure(Exit::cannot_run) when a line cannot be written.
class JsonLines {
 public:
  explicit JsonLines(const std::string& path);  // an empty path: nothing is written; "-": to stdout
  void write(const JsonObject& object);

 private:
  std::string path_;
  std::ofstream file_;
};

}  // namespace ladder
