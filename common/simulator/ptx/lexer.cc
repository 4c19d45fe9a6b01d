#include "common/simulator/ptx/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace simulator::ptx {

namespace {

enum : uint8_t { kBlank = 1, kStart = 2, kFollow = 4, kDigit = 8, kBrace = 16 };

constexpr std::array<uint8_t, 256> kClasses = [] {
  std::array<uint8_t, 256> classes{};
  for (char c : {' ', '\t', '\r', '\n', '\v', '\f'}) classes[static_cast<uint8_t>(c)] = kBlank;
  for (int c = 'a'; c <= 'z'; ++c) classes[c] = classes[c - 'a' + 'A'] = kStart | kFollow;
  for (int c = '0'; c <= '9'; ++c) classes[c] = kFollow | kDigit;
  classes['_'] = classes['$'] = kStart | kFollow;
  classes['%'] = kStart;
  for (char c : {'{', '}', '"', '/', '\n'}) classes[static_cast<uint8_t>(c)] |= kBrace;
  return classes;
}();

bool is(char c, uint8_t classes) {
  return kClasses[static_cast<uint8_t>(c)] & classes;
}

}  // namespace

bool starts_identifier(char c) {
  return is(c, kStart);
}
bool is_digit(char c) {
  return is(c, kDigit);
}

std::string quote(std::string_view name) {
  std::string quoted(1, '\'');
  return quoted.append(name).append(1, '\'');
}

void fail_at(uint32_t line, const std::string& what) {
  throw SyntaxError("line " + std::to_string(line) + ": " + what);
}

void Lexer::fail(const std::string& what) const {
  fail_at(line_, what);
}

void Lexer::fail_expected(const std::string& what) {
  if (!peek()) fail(what + " expected, not the end of the text");
  const char* begin = at_;
  const char* end = at_ + 1;
  while (end < end_ && is(*begin, kStart | kFollow) && is(*end, kFollow)) ++end;
  fail(what + " expected, not " + quote({begin, static_cast<size_t>(end - begin)}));
}

void Lexer::skip_comment() {
  if (end_ - at_ > 1 && at_[1] == '/') {
    const void* newline = std::memchr(at_, '\n', end_ - at_);
    at_ = newline ? static_cast<const char*>(newline) : end_;
  } else if (end_ - at_ > 1 && at_[1] == '*') {
    const size_t size = rest().find("*/", 2);
    if (size == std::string_view::npos) fail("comment without an end");
    line_ += static_cast<uint32_t>(std::count(at_, at_ + size, '\n'));
    at_ += size + 2;
  } else {
    fail("'/' out of place");
  }
}

char Lexer::peek() {
  for (;;) {
    while (at_ < end_ && is(*at_, kBlank)) line_ += *at_++ == '\n';
    if (at_ == end_) return '\0';
    if (*at_ != '/' || (after_next() != '/' && after_next() != '*')) return *at_;
    skip_comment();
  }
}

bool Lexer::accept(char c) {
  if (peek() != c || at_ == end_) return false;
  ++at_;
  return true;
}

void Lexer::expect(char c) {
  if (!accept(c)) fail_expected(quote({&c, 1}));
}

std::string_view Lexer::identifier() {
  if (!is(peek(), kStart)) fail_expected("a name");
  const char* begin = at_++;
  while (at_ < end_ && is(*at_, kFollow)) ++at_;
  return {begin, static_cast<size_t>(at_ - begin)};
}

std::string_view Lexer::directive() {
  if (peek() != '.') fail_expected("a directive");
  const char* begin = ++at_;
  for (;;) {
    while (at_ < end_ && is(*at_, kFollow)) ++at_;
    if (end_ - at_ < 3 || at_[0] != ':' || at_[1] != ':' || !is(at_[2], kFollow)) break;
    at_ += 2;
  }
  if (at_ == begin) fail("a name expected after '.'");
  return {begin, static_cast<size_t>(at_ - begin)};
}

std::string_view Lexer::quoted() {
  if (peek() != '"') fail_expected("a string");
  const char* begin = ++at_;
  while (at_ < end_ && *at_ != '"' && *at_ != '\n') at_ += *at_ == '\\' && end_ - at_ > 1 ? 2 : 1;
  if (at_ >= end_ || *at_ != '"') fail("string without an end");
  return {begin, static_cast<size_t>(at_++ - begin)};
}

uint32_t Lexer::number() {
  if (!is(peek(), kDigit)) fail_expected("a number");
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(at_, end_, value);
  if (error != std::errc() || (end < end_ && is(*end, kFollow))) fail_expected("a decimal number");
  at_ = end;
  return value;
}

std::string_view Lexer::dotted_number() {
  if (!is(peek(), kDigit)) fail_expected("a number");
  const char* begin = at_;
  while (at_ < end_ && (is(*at_, kDigit) || *at_ == '.')) ++at_;
  return {begin, static_cast<size_t>(at_ - begin)};
}

std::string_view Lexer::block() {
  const uint32_t first_line = line_;
  expect('{');
  const char* begin = at_;
  for (int depth = 1;;) {
    while (at_ < end_ && !is(*at_, kBrace)) ++at_;
    if (at_ == end_) fail_at(first_line, "'{' without its '}'");
    switch (*at_) {
      case '{':
        ++depth, ++at_;
        break;
      case '}':
        ++at_;
        if (--depth == 0) return {begin, static_cast<size_t>(at_ - 1 - begin)};
        break;
      case '"':
        quoted();
        break;
      case '\n':
        ++line_, ++at_;
        break;
      default:
        if (after_next() == '/' || after_next() == '*')
          skip_comment();
        else
          ++at_;
    }
  }
}

std::string_view Lexer::since(const char* begin) const {
  const char* end = at_;
  while (end > begin && is(end[-1], kBlank)) --end;
  return {begin, static_cast<size_t>(end - begin)};
}

}  // namespace simulator::ptx
