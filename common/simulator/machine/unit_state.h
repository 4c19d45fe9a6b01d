// What a unit keeps of a grid, a cluster, a CTA, a warp, an activation, a CPU thread: of a type that is its
// own, in a place that is its own (units/places.h). The machine holds it and knows no more of it.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

namespace simulator {

class UnitState {
 public:
  virtual ~UnitState() = default;

 protected:
  UnitState() = default;
  UnitState(const UnitState&) = default;
  UnitState& operator=(const UnitState&) = default;
};

class UnitStates {
 public:
  // Where it has been made: Unit::launch(), start() and begin() do that.
  template <class State>
  State& state() {
    return static_cast<State&>(*states_[index<State>]);
  }
  template <class State>
  const State& state() const {
    return static_cast<const State&>(*states_[index<State>]);
  }
  // As it was, where there is one.
  template <class State>
  State& make() {
    static_assert(index<State> < most);
    if (!states_[index<State>]) states_[index<State>] = std::make_unique<State>();
    return state<State>();
  }

 private:
  static constexpr size_t most = 8;  // places
  template <class State>
  static constexpr size_t index = static_cast<size_t>(State::place);

  std::array<std::unique_ptr<UnitState>, most> states_;
};

}  // namespace simulator
