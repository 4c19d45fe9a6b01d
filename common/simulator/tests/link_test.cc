#include "common/simulator/loading/link.h"

#include <gtest/gtest.h>

#include <string>

#include "common/simulator/ptx/module.h"

namespace simulator {
namespace {

std::string text(const std::string& body, const std::string& target = "sm_80",
                 const std::string& version = "8.0") {
  return ".version " + version + "\n.target " + target + "\n.address_size 64\n" + body;
}

size_t count(const std::string& text, const std::string& word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

TEST(Link, OneTextStaysAsItIs) {
  EXPECT_EQ(link({"anything"}), "anything");
}

TEST(Link, TheNewestVersionAndTarget) {
  const ptx::Module module(link({text("", "sm_90a", "8.0"), text("", "sm_80", "10.0")}));
  EXPECT_EQ(module.version, "10.0");
  EXPECT_EQ(module.target, "sm_90a");
}

TEST(Link, WhatOneTextDefinesAndOthersDeclare) {
  ptx::Module module(link({
      text(".extern .func f();\n.extern .global .u32 v;\n.visible .entry k() { call f; ret; }"),
      text(".visible .func f() { ret; }\n.visible .global .u32 v = 7;\n"),
      text(".extern .func f();\n.extern .global .u32 v;\n"),
  }));
  EXPECT_TRUE(module.find("f")->defined);
  EXPECT_TRUE(module.find("k")->entry);
  ASSERT_NE(module.find_variable("v"), nullptr);
  EXPECT_EQ(module.find_variable("v")->initial.size(), 4u);
}

TEST(Link, NamesOfATextsOwn) {
  const std::string own =
      ".global .align 1 .b8 $str[2] = {65};\n.func own();\n.func own() { .reg .u64 %r; mov.u64 %r, $str; "
      "ret; }\n";
  const std::string linked = link({text(own), text(own), text(".visible .func own() { ret; }\n")});
  ptx::Module module(linked);
  EXPECT_TRUE(module.find("own")->defined) << "the visible one keeps its name";
  EXPECT_TRUE(module.find("own$1")->defined);
  EXPECT_TRUE(module.find("own$2")->defined);
  EXPECT_NE(module.find_variable("$str"), nullptr);
  EXPECT_NE(module.find_variable("$str$2"), nullptr);
  EXPECT_EQ(count(linked, "mov.u64 %r, $str$2;"), 1u);
}

TEST(Link, OfWeakDefinitionsTheFirst) {
  const std::string weak = ".weak .func w();\n.weak .func w() { { ret; } }\n.weak .global .u32 x = 1;\n";
  const std::string linked = link({text(weak), text(weak)});
  EXPECT_EQ(count(linked, "{ { ret; } }"), 1u);
  EXPECT_EQ(count(linked, "x = 1"), 1u);
  EXPECT_TRUE(ptx::Module(linked).find("w")->defined);
  const std::string strong = link({text(weak), text(".visible .func w() { trap; }\n")});
  EXPECT_EQ(count(strong, "ret"), 0u);
}

TEST(Link, TwoOfOneName) {
  const std::string visible = text(".visible .func f() { ret; }\n");
  EXPECT_THROW(ptx::Module(link({visible, visible})), ptx::SyntaxError);
}

TEST(Link, FilesKeepTheirLines) {
  const std::string lines =
      ".visible .func NAME() { .loc 1 5 3, function_name $L, inlined_at 2 9 1 \n ret; }\n.file 1 "
      "\"FILE.cu\"\n.file 2 \"a.h\"\n";
  const auto named = [&](const std::string& name) {
    std::string made = lines;
    made.replace(made.find("NAME"), 4, name);
    made.replace(made.find("FILE"), 4, name);
    return text(made);
  };
  const std::string linked = link({named("f"), named("g")});
  EXPECT_EQ(count(linked, ".loc 3 5 3, function_name $L, inlined_at 4 9 1"), 1u);
  const ptx::Module module(linked);
  EXPECT_EQ(module.files.at(1), "f.cu");
  EXPECT_EQ(module.files.at(3), "g.cu");
}

}  // namespace
}  // namespace simulator
