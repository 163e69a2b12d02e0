#include <map>

#include "bench/method/hdf5/planned.hpp"

namespace slabmark {

namespace {

/// One H5Dwrite_multi for all datasets of a round, each with the union of its hyperslabs. A
/// collective call fails where a dataset comes twice ("duplicate addr in selections"), so the
/// second part of a dataset goes with a second call.
class Hdf5Multi : public Hdf5Planned {
 public:
  Hdf5Multi(const MethodContext& context, Hdf5Options options)
      : Hdf5Planned(context, std::move(options), plan_of_union) {}

 protected:
  std::string call_name() const override { return writing() ? "H5Dwrite_multi" : "H5Dread_multi"; }

  // A space stands at one time only, and all spaces of a call are in use together.
  std::vector<std::uint64_t> variants(const std::vector<Transfer>& transfers) const override {
    std::map<std::uint64_t, std::uint64_t> times;
    std::vector<std::uint64_t> all;
    for (const auto& transfer : transfers) {
      all.push_back(times.emplace(transfer.time, times.size()).first->second);
    }
    return all;
  }

  void move_all(const std::vector<Transfer>& transfers,
                std::span<std::byte* const> buffers) override {
    const auto variant = variants(transfers);
    std::map<std::size_t, std::size_t> occurrences;
    std::vector<std::vector<std::size_t>> calls;
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      const auto call = occurrences[transfers[i].dataset]++;
      if (call == calls.size()) calls.emplace_back();
      calls[call].push_back(i);
    }
    for (const auto& call : calls) {
      std::vector<Ready> all;
      std::vector<Part> parts;
      for (const auto i : call) {
        all.push_back(ready(transfers[i], variant[i], buffers[i]));
        const auto& now = all.back();
        parts.push_back({transfers[i].dataset, &now.plan->memory, &now.plan->file, now.data()});
      }
      move(parts);
      for (const auto& moved : all) done(moved);
    }
  }
};

}  // namespace

MethodInfo hdf5_multi_method() {
  return hdf5_info("hdf5-multi", "one H5Dwrite_multi per round, a union for each dataset",
                   make_hdf5<Hdf5Multi>);
}

}  // namespace slabmark
