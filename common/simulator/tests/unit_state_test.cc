#include "common/simulator/machine/unit_state.h"

#include <gtest/gtest.h>

#include <string>

namespace simulator::tests {
namespace {

enum class InThing { numbers, words };

struct Numbers final : UnitState {
  static constexpr auto place = InThing::numbers;
  int value = 1;
};
struct Words final : UnitState {
  static constexpr auto place = InThing::words;
  std::string value = "none";
};

TEST(UnitState, EachHasItsPlace) {
  struct Thing : UnitStates {
  } thing;
  thing.make<Numbers>().value = 2;
  thing.make<Words>().value = "two";
  EXPECT_EQ(thing.state<Numbers>().value, 2);
  EXPECT_EQ(thing.state<Words>().value, "two");
}

TEST(UnitState, IsMadeOnceAndAnewOnDemand) {
  UnitStates states;
  states.make<Numbers>().value = 2;
  EXPECT_EQ(states.make<Numbers>().value, 2) << "it keeps its memory from launch to launch";
  states.make<Numbers>() = {};
  EXPECT_EQ(states.state<Numbers>().value, 1);
}

}  // namespace
}  // namespace simulator::tests
