// How findings read.
#include "common/simulator/checks/finding.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace simulator {
namespace {

constexpr FindingKind all_kinds[] = {FindingKind::illegal_address,
                                     FindingKind::misaligned,
                                     FindingKind::shared_out_of_bounds,
                                     FindingKind::local_out_of_bounds,
                                     FindingKind::param_out_of_bounds,
                                     FindingKind::illegal_instruction,
                                     FindingKind::trap,
                                     FindingKind::assertion,
                                     FindingKind::stack_overflow,
                                     FindingKind::deadlock,
                                     FindingKind::uninitialised,
                                     FindingKind::race,
                                     FindingKind::divergent_barrier,
                                     FindingKind::invalid_shuffle,
                                     FindingKind::not_supported};

Finding race() {
  Finding finding{FindingKind::race, "write of 4 bytes at shared+0x1040", {}, {}};
  finding.details = {"earlier read by thread (37,0,0) at gemm.cu:60, no barrier between them"};
  finding.site.kernel = "void gemm_kernel<Config<64, 64>>(Gemm, int)";
  finding.site.thread[0] = 5;
  finding.site.cta[1] = 7;
  finding.site.source = "02_smem_tiling/gemm.cu:71";
  finding.site.instruction = "st.shared.f32 [%r12+64], %f3";
  finding.site.ptx_line = 812;
  return finding;
}

std::string head(const std::string& kernel) {
  Finding finding{FindingKind::trap, "", {}, {}};
  finding.site.kernel = kernel;
  const std::string text = to_text(finding);
  return text.substr(0, text.find('\n'));
}

TEST(Finding, Text) {
  EXPECT_EQ(to_text(race()),
            "simulator: race in gemm_kernel<Config<64, 64>>(Gemm, int) at 02_smem_tiling/gemm.cu:71\n"
            "simulator:   write of 4 bytes at shared+0x1040, thread (5,0,0) of CTA (0,7,0)\n"
            "simulator:   earlier read by thread (37,0,0) at gemm.cu:60, no barrier between them\n"
            "simulator:   PTX line 812: st.shared.f32 [%r12+64], %f3\n");
}

TEST(Finding, WhatIsNotKnownIsLeftOut) {
  Finding finding{FindingKind::deadlock, "nothing can run.", {}, {}};
  EXPECT_EQ(to_text(finding), "simulator: deadlock\nsimulator:   nothing can run\n");
}

TEST(Finding, EveryLineHasThePrefix) {
  Finding finding = race();
  finding.what = "one\ntwo";
  finding.details = {"three\nfour\n", ""};
  std::istringstream lines(to_text(finding));
  std::string line;
  int count = 0;
  for (; std::getline(lines, line); ++count) EXPECT_EQ(line.rfind("simulator: ", 0), 0u) << line;
  EXPECT_EQ(count, 7);
}

TEST(Finding, AnInstructionIsOneLine) {
  Finding finding{FindingKind::trap, "", {}, {}};
  finding.site.ptx_line = 9;
  finding.site.instruction = "call.uni\n\t(retval0),\n\tf ";
  EXPECT_EQ(to_text(finding),
            "simulator: trap\n"
            "simulator:   thread (0,0,0) of CTA (0,0,0)\n"
            "simulator:   PTX line 9: call.uni (retval0), f\n");
}

TEST(Finding, Names) {
  std::set<std::string> names;
  for (const FindingKind kind : all_kinds) EXPECT_TRUE(names.insert(name_of(kind)).second) << name_of(kind);
  EXPECT_TRUE(faults_on_hardware(FindingKind::illegal_address));
  EXPECT_TRUE(faults_on_hardware(FindingKind::stack_overflow));
  EXPECT_TRUE(faults_on_hardware(FindingKind::deadlock));
  EXPECT_FALSE(faults_on_hardware(FindingKind::uninitialised));
  EXPECT_FALSE(faults_on_hardware(FindingKind::race));
  EXPECT_FALSE(faults_on_hardware(FindingKind::not_supported));
}

TEST(Finding, LongNamesLoseInnerTemplateArgumentsFirst) {
  const std::string inner(90, 'x');
  EXPECT_EQ(head("void k<A<B<C<" + inner + ">>>, 3>(int)"), "simulator: trap in k<A<B<C<…>>>, 3>(int)");
  EXPECT_EQ(head("void k<A<B<C<3>, " + inner + ">>, 3>(int)"), "simulator: trap in k<A<B<…>>, 3>(int)");
  EXPECT_EQ(head("void k<A<" + inner + "> >(A<" + inner + ">)"), "simulator: trap in k<…>(A<…>)");
  EXPECT_EQ(head("void k<" + inner + ", 123456>(int)"), "simulator: trap in k<…>(int)");
  EXPECT_EQ(head("k<3>(" + inner + ", 1234567)"), "simulator: trap in k<…>(…)");
  EXPECT_EQ(head("void k<3>(" + inner + ")"), "simulator: trap in k<3>(" + inner + ")");  // just short enough
}

TEST(Finding, OperatorsAndAnonymousNamespacesAreNoLists) {
  const std::string inner(120, 'x');
  EXPECT_EQ(head("(anonymous namespace)::k<" + inner + ">(" + inner + ")"),
            "simulator: trap in (anonymous namespace)::k<…>(…)");
  EXPECT_EQ(head("A<" + inner + ">::operator()(" + inner + ")"), "simulator: trap in A<…>::operator()(…)");
  EXPECT_EQ(head("operator<<" + std::string("(") + inner + ")"), "simulator: trap in operator<<(…)");
  EXPECT_EQ(head("A::operator->(" + inner + ")"), "simulator: trap in A::operator->(…)");
  EXPECT_EQ(head("A<" + inner + ">::f(int)::{lambda(int)#1}"),
            "simulator: trap in A<…>::f(int)::{lambda(int)#1}");
}

TEST(Findings, EqualOnesAreToldOnceAndCounted) {
  Findings findings;
  findings.add(race());
  Finding again = race();
  again.site.thread[0] = 9;
  findings.add(again);
  EXPECT_EQ(findings.count(), 2u);
  ASSERT_EQ(findings.all().size(), 1u);
  EXPECT_EQ(findings.all()[0].site.thread[0], 5u);

  Finding line = race(), kind = race(), kernel = race();
  line.site.ptx_line = 1;
  line.site.source = "02_smem_tiling/gemm.cu:7";
  kind.kind = FindingKind::uninitialised;
  kernel.site.kernel = "other";
  for (const Finding& finding : {kernel, kind, line}) findings.add(finding);
  EXPECT_EQ(findings.count(), 5u);
  testing::internal::CaptureStderr();
  Findings::Reported reported;
  findings.report(reported);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), to_text(line) + to_text(kind) + to_text(race()) +
                                                        to_text(kernel) +
                                                        "simulator: 1 more like these, at the same lines\n");
}

TEST(Findings, OfOneLineOfTheSourceAreOne) {
  Findings findings;
  for (uint32_t line = 100; line < 140; ++line) {  // an unrolled loop
    Finding finding = race();
    finding.site.ptx_line = line;
    findings.add(finding);
  }
  EXPECT_EQ(findings.count(), 40u);
  EXPECT_EQ(findings.all().size(), 1u);
  Finding other = race();
  other.site.source = "02_smem_tiling/gemm.cu:72";
  findings.add(other);
  EXPECT_EQ(findings.all().size(), 2u);
}

TEST(Finding, HasNoLongLines) {
  Finding finding = race();
  for (int i = 0; i < 30; ++i) finding.what += " (inlined at 02_smem_tiling/gemm.cu:71)";
  for (int i = 0; i < 60; ++i) finding.site.instruction += " %r1234,";
  const std::string text = to_text(finding);
  std::istringstream lines(text);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_LE(line.size(), 200u) << line;
    EXPECT_TRUE(line.starts_with("simulator: ")) << line;
  }
  EXPECT_GT(count, 8);
  EXPECT_NE(text.find("\nsimulator:       (inlined at"), std::string::npos) << text;
}

TEST(Findings, OfALaterLaunchAreToldWhereTheyAreNew) {
  Findings::Reported reported;
  const auto report = [&reported](std::initializer_list<Finding> launch) {
    Findings findings;
    for (const Finding& finding : launch) findings.add(finding);
    testing::internal::CaptureStderr();
    findings.report(reported);
    return testing::internal::GetCapturedStderr();
  };
  Finding line = race(), kind = race();
  line.site.ptx_line = 900;
  line.site.source = "02_smem_tiling/gemm.cu:7";
  kind.kind = FindingKind::uninitialised;
  EXPECT_EQ(report({race()}), to_text(race()));
  EXPECT_EQ(report({race(), race()}), "");
  EXPECT_EQ(report({race(), line, race(), line}),
            to_text(line) + "simulator: 1 more like these, at the same lines\n");
  EXPECT_EQ(report({line, race(), kind}), to_text(kind));
}

TEST(Findings, AreTheSameWhicheverThreadCameFirst) {
  Findings findings;
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&findings, t] {
      for (uint32_t i = 0; i < 100; ++i) {
        Finding finding = race();
        finding.site.ptx_line = 1 + i % 10;
        finding.site.source.clear();
        finding.site.cta[0] = t + 99 - i;
        findings.add(finding);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(findings.count(), 400u);
  ASSERT_EQ(findings.all().size(), 10u);
  for (const Finding& finding : findings.all()) EXPECT_EQ(finding.site.cta[0], 10 - finding.site.ptx_line);
}

TEST(Findings, FaultCarriesItsFinding) {
  try {
    throw Fault(race());
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "write of 4 bytes at shared+0x1040");
    EXPECT_EQ(dynamic_cast<const Fault&>(error).finding.site.ptx_line, 812u);
  }
}

}  // namespace
}  // namespace simulator
