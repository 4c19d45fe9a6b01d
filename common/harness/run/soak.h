// --soak: many launches over random shapes, or over those of --sweep models, back to back: what a single
// check of a shape cannot find, such as a barrier that is right in most runs, or a launch that disturbs the
// next one.
#pragma once

#include <algorithm>
#include <cstdio>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "common/harness/run/candidates.h"
#include "common/harness/run/job.h"
#include "common/harness/run/shapes.h"

namespace ladder {

constexpr int soak_shapes_at_once = 16, soak_rounds = 25;

// Launches a variant at least options.soak times, over shapes that it takes. Each shape is verified
// once, then launched again and again among others, without a pause, and its outputs compared bit by bit with
// the verified ones. Prints a line per wrong launch, that begins with the program's name. Throws Failure on
// an error of the runtime.
template <class Problem>
class Soak {
 public:
  Soak(const Variant<Problem>& variant, std::string program, const Options& options)
      : variant_(variant), program_(std::move(program)), options_(options), random_(options.seed) {
    if (options.models) of_models_ = shapes_for<Problem>(options);
    while (!done()) {
      const int before = launches_;
      std::vector<std::unique_ptr<Subject>> subjects;
      for (int i = 0; i < soak_shapes_at_once && !done(); ++i)
        if (auto subject = verified_subject()) subjects.push_back(std::move(subject));
      if (launches_ == before)
        throw Failure(Exit::cannot_run,
                      std::string(variant.name) + " takes none of the shapes: nothing was checked");
      for (int round = 0; round < soak_rounds && !done() && !subjects.empty(); ++round) launch_all(subjects);
    }
  }

  int launches() const { return launches_; }
  int shapes() const { return int(shapes_.size()); }  // different ones: those of models come up again
  int wrong() const { return wrong_; }                // launches

 private:
  // One shape under test.
  struct Subject {
    Problem shape;
    Workload<Problem> workload;
    std::vector<GuardedBuffer> right;  // copies of the verified outputs
    Subject(const Problem& p, std::uint64_t seed, Reference reference)
        : shape(p), workload(make_workload(p, p, 1, {.seed = seed, .reference = reference})) {}
  };

  bool done() const { return launches_ >= options_.soak; }

  // Of those that models have each in its turn, over and over.
  Problem next_shape() {
    if (of_models_.empty()) return random_shape(random_, options_.device, Problem{});
    return of_models_[next_of_models_++ % of_models_.size()];
  }

  // Null where the variant does not take the shape, or was wrong.
  std::unique_ptr<Subject> verified_subject() {
    Problem shape = next_shape();
    if (!variant_.unsupported(shape).empty()) shape = in_vectors(shape, extension_of(variant_).precision);
    if (!variant_.unsupported(shape).empty()) return nullptr;
    const std::string doing =
        std::string(ProblemInfo<Problem>::name) + " " + variant_.name + " at " + shape_text(shape);
    auto subject = std::make_unique<Subject>(shape, random_(), options_.reference);
    subject->workload.prepare(Workload<Problem>::passes - 1);
    subject->workload.choose(variant_);
    subject->workload.poison();
    check(variant_.launch(subject->workload.problem(0), nullptr), doing);
    check(cudaDeviceSynchronize(), doing);
    ++launches_;
    shapes_.insert(shape_text(shape));
    std::string outside;
    const Verdict verdict = subject->workload.verify(outside);
    if (!verdict.passed() || !outside.empty()) {
      ++wrong_;
      std::fprintf(stderr, "%s: %s: %s %s\n", program_.c_str(), doing.c_str(), verdict.first_wrong.c_str(),
                   outside.c_str());
      return nullptr;
    }
    for (const GuardedBuffer* output : subject->workload.outputs()) {
      const GuardedBuffer& right =
          subject->right.emplace_back("a verified output", GuardedBuffer::Kind::input, output->bytes(), 1);
      check(cudaMemcpy(right.data(), output->data(), output->bytes(), cudaMemcpyDeviceToDevice),
            "copying an output");
    }
    return subject;
  }

  void launch_all(std::vector<std::unique_ptr<Subject>>& subjects) {
    std::shuffle(subjects.begin(), subjects.end(), random_);
    for (const auto& s : subjects) s->workload.poison();
    for (const auto& s : subjects) check(variant_.launch(s->workload.problem(0), nullptr), "launching");
    launches_ += int(subjects.size());
    for (const auto& s : subjects) {
      const auto outputs = s->workload.outputs();
      unsigned long long found = 0;
      for (std::size_t i = 0; i < outputs.size(); ++i) found += count_differences(*outputs[i], s->right[i]);
      if (found == 0) continue;
      ++wrong_;
      std::fprintf(stderr, "%s: %s %s at %s: %llu pairs of bytes differ from those of the verified launch\n",
                   program_.c_str(), ProblemInfo<Problem>::name, variant_.name, shape_text(s->shape).c_str(),
                   found);
    }
  }

  const Variant<Problem>& variant_;
  const std::string program_;
  const Options& options_;
  std::mt19937_64 random_;
  std::vector<Problem> of_models_;
  std::size_t next_of_models_ = 0;
  std::set<std::string> shapes_;
  int launches_ = 0, wrong_ = 0;
};

// Of the chosen variant: a line, a record and a count.
template <class Problem>
void soak(const Context& context) {
  const Variant<Problem>& variant = *chosen_one<Problem>(context.rung, context.options);
  const char* const name = ProblemInfo<Problem>::name;
  const Soak<Problem> soaked(variant, program_name(context.rung, context.options.device), context.options);
  std::printf("%-11s %-20s %d launches over %d %s: %s\n", name, variant.name, soaked.launches(),
              soaked.shapes(), context.options.models ? "shapes that models have" : "random shapes",
              soaked.wrong() ? "WRONG" : "ok");
  (soaked.wrong() ? context.tally.wrong : context.tally.right) += 1;
  JsonObject o;
  o.field("record", "soak").field("rung", context.rung.name).field("problem", name);
  o.field("variant", variant.name);
  if (context.options.models) o.field("sweep", "models");
  o.field("launches", soaked.launches()).field("shapes", soaked.shapes()).field("wrong", soaked.wrong());
  add_system(o, context.system);
  o.field("seed", context.options.seed);
  context.json.write(o);
}

}  // namespace ladder
