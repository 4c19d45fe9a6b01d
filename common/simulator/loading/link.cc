#include "common/simulator/loading/link.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "common/simulator/ptx/lexer.h"

namespace simulator {
namespace {

using ptx::is_digit;
using ptx::starts_identifier;

// A piece of PTX text: a name, a directive, a number, a string, or whatever stands between them.
struct Token {
  enum class Kind : uint8_t { other, name, directive, number, string };
  Kind kind = Kind::other;
  std::string_view text;
};

bool continues_identifier(char c) {
  return starts_identifier(c) || is_digit(c);
}

Token next_token(std::string_view rest) {
  const auto length_while = [&](size_t from, auto&& belongs) {
    while (from < rest.size() && belongs(rest[from])) ++from;
    return from;
  };
  const auto token = [&](Token::Kind kind, size_t length) { return Token{kind, rest.substr(0, length)}; };
  const char first = rest.front();
  if (rest.starts_with("//")) return token(Token::Kind::other, std::min(rest.find('\n'), rest.size()));
  if (rest.starts_with("/*")) {
    const size_t end = rest.find("*/", 2);
    return token(Token::Kind::other, end == std::string_view::npos ? rest.size() : end + 2);
  }
  if (first == '"') {
    const size_t end = rest.find('"', 1);
    return token(Token::Kind::string, end == std::string_view::npos ? rest.size() : end + 1);
  }
  if (first == '.' && rest.size() > 1 && starts_identifier(rest[1]))
    return token(Token::Kind::directive, length_while(1, continues_identifier));
  if (starts_identifier(first)) return token(Token::Kind::name, length_while(1, continues_identifier));
  if (is_digit(first)) return token(Token::Kind::number, length_while(1, continues_identifier));
  return token(Token::Kind::other, 1);
}

bool is_blank(const Token& token) {
  return token.kind == Token::Kind::other &&
         (token.text == " " || token.text == "\t" || token.text == "\n" || token.text == "\r" ||
          token.text.starts_with("//") || token.text.starts_with("/*"));
}

std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(tokens.back().text.size()))
    tokens.push_back(next_token(rest));
  return tokens;
}

// A function or a variable of module scope.
struct Symbol {
  enum class Linkage : uint8_t { own, visible, weak, external };
  std::string_view name;
  Linkage linkage = Linkage::own;
  bool defined = false;
  size_t begin = 0, end = 0;  // its tokens
};

// Goes through the statements of module scope.
class Reader {
 public:
  explicit Reader(const std::vector<Token>& tokens) : tokens_(tokens) {}

  std::vector<Symbol> symbols() {
    std::vector<Symbol> all;
    while (skip_blanks()) {
      if (tokens_[at_].kind != Token::Kind::directive) {
        ++at_;
        continue;
      }
      if (const auto symbol = declaration()) all.push_back(*symbol);
    }
    return all;
  }

 private:
  bool skip_blanks() {
    while (at_ < tokens_.size() && is_blank(tokens_[at_])) ++at_;
    return at_ < tokens_.size();
  }

  // From the linking directive to the ';' or the '}' at its end. Nothing: it declares no symbol, or several.
  std::optional<Symbol> declaration() {
    Symbol symbol;
    symbol.begin = at_;
    bool function = false, variable = false;
    int depth = 0;  // of ( and [
    for (; skip_blanks(); ++at_) {
      const Token& token = tokens_[at_];
      const std::string_view text = token.text;
      if (depth == 0 && token.kind == Token::Kind::directive) {
        if (text == ".visible" || text == ".common")
          symbol.linkage = Symbol::Linkage::visible;
        else if (text == ".weak")
          symbol.linkage = Symbol::Linkage::weak;
        else if (text == ".extern")
          symbol.linkage = Symbol::Linkage::external;
        else if (text == ".func" || text == ".entry")
          function = true;
        else if (text == ".global" || text == ".const" || text == ".shared")
          variable = true;
        else if (!function && !variable)
          return ++at_, std::nullopt;  // .version, .file, .section, …
      }
      if (depth == 0 && token.kind == Token::Kind::name && symbol.name.empty()) symbol.name = text;
      if (text == "(" || text == "[") ++depth;
      if (text == ")" || text == "]") --depth;
      const bool body = text == "{" && depth == 0;
      if (body) skip_block();
      if (text == ";" || (body && function)) {
        symbol.defined = symbol.linkage != Symbol::Linkage::external && (variable || body);
        symbol.end = ++at_;
        return symbol;
      }
    }
    return std::nullopt;
  }

  void skip_block() {  // leaves at_ at the '}'
    int depth = 0;
    for (; at_ < tokens_.size(); ++at_) {
      if (tokens_[at_].text == "{") ++depth;
      if (tokens_[at_].text == "}" && --depth == 0) return;
    }
  }

  const std::vector<Token>& tokens_;
  size_t at_ = 0;
};

uint32_t number_in(std::string_view text) {
  uint32_t value = 0;
  for (const char c : text) value = is_digit(c) ? value * 10 + static_cast<uint32_t>(c - '0') : value;
  return value;
}

// What stands after .version or .target.
std::string_view argument_of(std::string_view text, std::string_view directive) {
  const size_t found = text.find(directive);
  if (found == std::string_view::npos) return {};
  const std::string_view rest = text.substr(found + directive.size());
  return rest.substr(0, rest.find('\n'));
}

bool by_number(std::string_view a, std::string_view b) {
  return number_in(a) < number_in(b);
}

struct File {
  std::vector<Token> tokens;
  std::vector<Symbol> symbols;
};

class Linker {
 public:
  explicit Linker(const std::vector<std::string>& texts) {
    std::string_view version, target;
    for (const std::string& text : texts) {
      version = std::max(version, argument_of(text, ".version"), by_number);
      target = std::max(target, argument_of(text, ".target"), by_number);
      File& file = files_.emplace_back();
      file.tokens = tokens_of(std::string_view(text).substr(0, text.find('\0')));
      file.symbols = Reader(file.tokens).symbols();
      for (const Symbol& symbol : file.symbols) {
        if (symbol.linkage != Symbol::Linkage::own) shared_.emplace(symbol.name);
        if (symbol.linkage == Symbol::Linkage::visible && symbol.defined) defined_.emplace(symbol.name);
      }
    }
    taken_ = shared_;
    text_ = ".version" + std::string(version) + "\n.target" + std::string(target) + "\n.address_size 64\n";
  }

  std::string run() {
    for (size_t i = 0; i < files_.size(); ++i) add(files_[i], i + 1);
    return std::move(text_);
  }

 private:
  void add(const File& file, size_t number) {
    std::map<std::string_view, std::string> renamed;
    std::vector<bool> left_out(file.tokens.size(), false);
    for (const Symbol& symbol : file.symbols) {
      if (symbol.linkage == Symbol::Linkage::own && taken_.contains(symbol.name))
        renamed[symbol.name] = std::string(symbol.name) + "$" + std::to_string(number);
      const bool again =
          symbol.defined && symbol.linkage == Symbol::Linkage::weak && !defined_.emplace(symbol.name).second;
      for (size_t i = symbol.begin; again && i < symbol.end; ++i) left_out[i] = true;
    }
    for (const Symbol& symbol : file.symbols) taken_.emplace(symbol.name);
    write(file.tokens, left_out, renamed);
  }

  void write(const std::vector<Token>& tokens, const std::vector<bool>& left_out,
             const std::map<std::string_view, std::string>& renamed) {
    uint32_t last_file = 0;
    bool numbers_file = false;  // the next token
    for (size_t i = 0; i < tokens.size(); ++i) {
      const Token& token = tokens[i];
      if (left_out[i]) continue;
      if (token.text == ".version" || token.text == ".target" || token.text == ".address_size") {
        while (i + 1 < tokens.size() && tokens[i + 1].text != "\n") ++i;
        continue;
      }
      const auto other = token.kind == Token::Kind::name ? renamed.find(token.text) : renamed.end();
      if (other != renamed.end()) {
        text_ += other->second;
      } else if (token.kind == Token::Kind::number && numbers_file) {
        last_file = std::max(last_file, number_in(token.text));
        text_ += std::to_string(files_before_ + number_in(token.text));
      } else {
        text_ += token.text;
      }
      if (!is_blank(token))
        numbers_file = token.text == ".file" || token.text == ".loc" || token.text == "inlined_at";
    }
    text_ += '\n';
    files_before_ += last_file;
  }

  using Names = std::set<std::string, std::less<>>;
  std::vector<File> files_;
  Names shared_;   // that are known beyond their file
  Names taken_;    // those, and the files' own so far
  Names defined_;  // that need no further .weak definition
  std::string text_;
  uint32_t files_before_ = 0;  // numbers of .file so far
};

}  // namespace

std::string link(const std::vector<std::string>& texts) {
  return texts.size() == 1 ? texts.front() : Linker(texts).run();
}

}  // namespace simulator
