// every_shape_fit CARD STEPS FILE...: fits the estimate to the times that every_shape_measure printed on a
// card, h200 or h100, and prints the file of that card in estimate/. What the choice loses goes to stderr,
// before and after: at all shapes, and held out, at each of five parts of them after a fit to the others.
//
// every_shape_fit CARD doubtful SEED SHAPES STEPS [FILE...]: prints where every_shape_measure should measure
// next, or first.
//
// every_shape_fit CARD missing SEED SHAPES: prints which tiles the estimate would take at these shapes of
// --sweep models, if they existed.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "common/every_shape/fit/fit.h"
#include "common/harness/base/failure.h"
#include "common/harness/problems/gemm/model_shapes.h"

namespace ladder::every_shape {
namespace {

constexpr int parts = 5;

void say(const char* what, const Regret& r) {
  std::fprintf(
      stderr,
      "%s: loses %.2f %%, %.1f %% at worst; 3 %% or less at %.1f %% of the shapes, over 10 %% at %.1f %%\n",
      what, 100 * r.mean, 100 * r.worst, 100 * r.near, 100 * r.far);
}

constexpr char usage[] =
    "usage: every_shape_fit h200|h100 STEPS FILE... of at least 10 shapes, or h200|h100 doubtful SEED SHAPES "
    "STEPS "
    "[FILE...], or h200|h100 missing SEED SHAPES";

std::vector<MeasuredShape> measured(std::span<char*> files) {
  std::vector<MeasuredShape> all;
  for (const char* file : files) read(file, all);
  if (all.size() < 2 * parts) throw Failure(Exit::bad_usage, usage);
  return all;
}

int number(const char* text) {
  const int value = std::atoi(text);
  if (value <= 0) throw Failure(Exit::bad_usage, usage);
  return value;
}

Card card_called(std::string_view name) {
  if (name == "h200") return Card::h200;
  if (name == "h100") return Card::h100;
  throw Failure(Exit::bad_usage, usage);
}

Exit fit_and_print(Card card, int steps, std::span<char*> files) {
  const std::vector<MeasuredShape> all = measured(files);
  say("before", regret(all, as_it_is(card)));
  Regret held_out;
  for (int part = 0; part < parts; ++part) {
    const Regret r = regret(only(all, part, parts), fit(without(all, part, parts), start_of(card), steps));
    held_out.mean += r.mean / parts;
    held_out.near += r.near / parts;
    held_out.far += r.far / parts;
    held_out.worst = std::max(held_out.worst, r.worst);
  }
  say("held out", held_out);
  const Fitted fitted = fit(all, start_of(card), steps);
  say("after", regret(all, fitted));
  std::fputs(text_of(fitted, card, all.size()).c_str(), stdout);
  return Exit::passed;
}

void print_missing(Card card, std::uint64_t seed, int shapes) {
  for (const MissingTile& tile : missing(all_candidates(), model_shapes(shapes, seed), card))
    std::printf("transposed_%dx%d%-10s  %3d shapes, most at %dx%dx%d: %.1f %%\n", tile.cols, tile.rows,
                tile.kind == Kind::ping_pong ? "_ping_pong" : "", tile.shapes, tile.at.m, tile.at.n,
                tile.at.k, 100 * tile.most);
}

Exit run(std::span<char*> arguments) {
  if (arguments.size() < 3) throw Failure(Exit::bad_usage, usage);
  const Card card = card_called(arguments[0]);
  if (arguments.size() == 4 && arguments[1] == std::string_view("missing")) {
    print_missing(card, std::strtoull(arguments[2], nullptr, 10), number(arguments[3]));
    return Exit::passed;
  }
  if (arguments.size() > 4 && arguments[1] == std::string_view("doubtful")) {
    const int shapes = number(arguments[3]), steps = number(arguments[4]);
    const auto seed = std::strtoull(arguments[2], nullptr, 10);
    std::vector<MeasuredShape> known;
    if (arguments.size() > 5) known = measured(arguments.subspan(5));
    for (const MeasuredShape& shape : doubtful(known, start_of(card), seed, shapes, steps))
      write(std::cout, shape);
    return Exit::passed;
  }
  return fit_and_print(card, number(arguments[1]), arguments.subspan(2));
}

}  // namespace
}  // namespace ladder::every_shape

int main(int argc, char** argv) {
  return ladder::run_program("every_shape_fit",
                             [&] { return ladder::every_shape::run(std::span(argv, argc).subspan(1)); });
}
