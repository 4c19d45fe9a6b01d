// Reads PTX text piece by piece (PTX ISA 9.0, section 4 "Syntax"). Every read first skips blanks and
// comments; what is returned points into the text. Errors are thrown as SyntaxError with the line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/simulator/ptx/module.h"

namespace simulator::ptx {

bool starts_identifier(char c);  // a letter, "_", "$" or "%"
bool is_digit(char c);

class Lexer {
 public:
  // `line`: the number of the line that `text` begins in.
  explicit Lexer(std::string_view text, uint32_t line = 1)
      : at_(text.data()), end_(text.data() + text.size()), line_(line) {}

  char peek();  // the next character that is not blank; 0 at the end
  char next_to() const { return at_ < end_ ? *at_ : '\0'; }  // the character right here, blank or not
  char after_next() const { return end_ - at_ > 1 ? at_[1] : '\0'; }
  bool accept(char c);               // skips the character if it is the next one
  void expect(char c);               // throws if it is not the next one
  std::string_view identifier();     // "%r1", "$L__BB0_1", "_"
  std::string_view directive();      // ".maxntid" gives "maxntid", ".shared::cluster" "shared::cluster"
  std::string_view quoted();         // what stands between the quotes
  uint32_t number();                 // a plain decimal number
  std::string_view dotted_number();  // "9.0"
  std::string_view block();          // from "{" to the "}" that closes it; returns what is between them

  void advance(size_t characters) {
    at_ += characters;
  }  // the caller has looked at them: no newline among them
  const char* position() const { return at_; }
  std::string_view rest() const { return {at_, static_cast<size_t>(end_ - at_)}; }
  std::string_view since(const char* begin) const;  // the text from there to here, less blanks at its end
  uint32_t line() const { return line_; }

  [[noreturn]] void fail(const std::string& what) const;     // SyntaxError at this line
  [[noreturn]] void fail_expected(const std::string& what);  // "… expected, not '…'"

 private:
  void skip_comment();
  const char* at_;
  const char* end_;
  uint32_t line_;
};

std::string quote(std::string_view name);  // 'name', for messages
[[noreturn]] void fail_at(uint32_t line, const std::string& what);

}  // namespace simulator::ptx
