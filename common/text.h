// A line of text, put together from words and numbers: what a variant says of itself or of a shape. In place
// of std::string, whose header alone would take a second of each kernel's compilation.
#pragma once

namespace ladder {

class Text {
 public:
  constexpr Text() = default;
  template <class... Parts>
  constexpr Text(const char* first, Parts... rest) {  // return {"m must be at most ", most};
    append(first, rest...);
  }

  template <class... Parts>
  constexpr void append(Parts... parts) {
    (add(parts), ...);
  }

  constexpr bool empty() const { return length_ == 0; }
  constexpr const char* c_str() const { return text_; }

 private:
  constexpr void add(const char* words) {
    while (*words) add(*words++);
  }
  constexpr void add(int number) {  // from 0 on
    if (number >= 10) add(number / 10);
    add(char('0' + number % 10));
  }
  constexpr void add(char letter) {
    if (length_ < most) text_[length_++] = letter;
  }

  static constexpr int most = 159;  // characters; further ones are left out
  char text_[most + 1] = {};
  int length_ = 0;
};

}  // namespace ladder
