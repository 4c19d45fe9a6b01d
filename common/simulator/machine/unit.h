// A unit of the machine, as the scheduler sees it: what works beside the warps, or has warps wait for each
// other. Each is one object, next to its instructions (instructions/opcodes.h lists them); what it keeps of a
// launch it keeps in the CTAs and warps (unit_state.h). The scheduler, the barriers and the grid walk the
// list and know none by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace simulator {

struct CommittedGroups;
struct Cta;
struct Frame;
struct Grid;
struct Group;
class Warp;

class Unit {
 public:
  virtual ~Unit() = default;

  virtual void launch(Grid&) {}  // its state of a grid is made

  // ---- The life of a CTA
  virtual void start(Cta&) {}    // nothing is under way, no warp waits; its state is made
  virtual void begin(Frame&) {}  // an activation of a function with registers that are watched
  virtual void forget(Warp&, const Frame*) {
  }                                  // the activation is over (null: the warp is): its registers are free
  virtual void exited(Warp&) {}      // its last lane has: others may have waited for it
  virtual void leave(Warp&, int) {}  // the last threads of its CTA are about to exit, this lane the first:
                                     // reports what is wrong then
  virtual void end(Cta&) {}          // they have: what is in flight ends, or is reported

  // ---- What is under way takes effect as late as a program may rely on …
  // … at random moments before that, where there is a seed. False: there is nothing that could.
  virtual bool pending(const Cta&) const { return false; }
  virtual void land_at_random(Cta&, uint64_t) {}
  virtual bool pending(const Warp&) const { return false; }
  virtual void land_at_random(Warp&, uint64_t) {}
  // … when a warp finds that the mbarrier which counts it has not completed its phase. Stops once it has.
  virtual void land_for(Cta&, uint32_t) {}
  // … when no warp can go on and a warp may look at what is to be stored. False: there is nothing.
  virtual bool land_stores(Cta&) { return false; }
  // The warp has seen the last phase of the mbarrier complete: what it counted has been waited for.
  virtual void seen(Warp&, Cta&, uint32_t) {}

  // The warp is about to execute an instruction with Program::observed.
  virtual void observe(Warp&, uint32_t) {}

  // How many groups of copies this lane has committed, for a trace.
  virtual void groups(const Warp&, size_t, CommittedGroups&) const {}

  // ---- No warp can go on
  // Lets lanes go on that wait for others of their warp which do not come. False: there are none.
  virtual bool resolve(Cta&) { return false; }
  // What these lanes wait for, with where; empty: for something else.
  virtual std::string waits(const Warp&, const Group&) const { return {}; }
  virtual void describe(const Warp&, std::vector<std::string>&) const {}  // lines on the warp
  virtual void describe(const Cta&, uint32_t, std::vector<std::string>&) const {
  }  // on what an mbarrier waits for
};

}  // namespace simulator
