#include "programs/bench/workload.hpp"

#include <algorithm>
#include <memory>
#include <type_traits>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/number.hpp"
#include "core/base/printable.hpp"
#include "programs/bench/pattern_command.hpp"

namespace slabmark::bench_program {

namespace {

/// Adds the option that sets one of `sizes`.
OptionHandle add_size_option(Command& command, const WorkloadSize& size, WorkloadSizes& sizes) {
  const std::string name = "--" + std::string(size.name);
  return std::visit(
      [&](auto member) {
        using Value = std::decay_t<decltype(sizes.*member)>;
        if constexpr (std::is_same_v<Value, double>) {
          return command.add_real(name, "NUMBER", sizes.*member, size.help);
        } else if constexpr (std::is_same_v<Value, WorkloadSizes::Lengths>) {
          return command.add_triple(name, sizes.*member, size.help);
        } else if (size.is_bytes) {
          return command.add_size(name, sizes.*member, size.help);
        } else {
          return command.add_count(name, sizes.*member, size.help, {.min = 1, .max = size.max});
        }
      },
      size.member);
}

bool has(const Workload& workload, const WorkloadSize& size) {
  const auto& used = workload.sizes_in_use;
  return std::find(used.begin(), used.end(), size.name) != used.end();
}

/// A workload that is known by name, in sizes of the user's choice.
class WorkloadCommand : public PatternCommand {
 public:
  explicit WorkloadCommand(const Workload& workload)
      : workload_(workload), sizes_(workload.defaults) {}

  std::string name() const override { return std::string(workload_.name); }
  std::string help() const override { return std::string(workload_.summary); }
  bool only_reads() const override { return workload_.only_reads; }

  void add_options(Command& command) override {
    for (const WorkloadSize& size : workload_sizes()) {
      if (!has(workload_, size)) continue;
      const OptionHandle option = add_size_option(command, size, sizes_);
      if (*size.of_default != '\0') OptionHandle(option).default_text(size.of_default);
    }
  }

  BuiltPattern build(const Comm& comm, bool for_reading) override {
    const auto rank = static_cast<std::uint64_t>(comm.rank());
    const auto ranks = static_cast<std::uint64_t>(comm.size());
    const WorkloadParts parts = make_workload(workload_, sizes_, ranks);
    BuiltPattern built{parts.written(rank), std::nullopt, {}};
    built.reads_otherwise = parts.read != nullptr;
    if (for_reading) built.read = (parts.read ? parts.read : parts.written)((rank + 1) % ranks);
    return built;
  }

 private:
  const Workload& workload_;
  WorkloadSizes sizes_;
};

}  // namespace

std::vector<std::unique_ptr<PatternCommand>> make_workload_commands() {
  std::vector<std::unique_ptr<PatternCommand>> commands;
  for (const Workload& workload : workloads()) {
    commands.push_back(std::make_unique<WorkloadCommand>(workload));
  }
  return commands;
}

WorkloadList::WorkloadList(Command& root)
    : command_(&root.add_command("list",
                                 "List the workloads that are known by name, and what "
                                 "they move")) {
  command_->add_count("-n,--ranks", ranks_, "Number of ranks", {.min = 1, .max = 1'000'000});
  for (const WorkloadSize& size : workload_sizes()) {
    const OptionHandle option =
        add_size_option(*command_, size, given_).default_text("that of the workload");
    enter_given_.push_back([this, option, &size](WorkloadSizes& sizes) {
      if (!option.is_given()) return;
      std::visit([&](auto member) { sizes.*member = given_.*member; }, size.member);
    });
  }
}

std::vector<WorkloadList::Row> WorkloadList::rows() const {
  std::vector<Row> all;
  for (const Workload& workload : workloads()) {
    Row row{&workload, workload.defaults, {}, ""};
    for (const auto& enter : enter_given_) enter(row.sizes);
    try {
      row.volume = volume_of(workload, make_workload(workload, row.sizes, ranks_), ranks_);
    } catch (const InputError& error) {
      row.unsupported_reason = error.what();
    }
    all.push_back(std::move(row));
  }
  return all;
}

std::string WorkloadList::text(const std::vector<Row>& rows) const {
  constexpr std::size_t indent = 35;
  std::string text =
      fmt::format("{:<10} {:>12} {:>9}  on {} ranks\n", "workload", "bytes", "requests", ranks_);
  for (const Row& row : rows) {
    const bool is_made = row.unsupported_reason.empty();
    const std::string line =
        fmt::format("{:<10} {:>12} {:>9}  {}", row.workload->name,
                    is_made ? format_bytes(row.volume.bytes) : "-",
                    is_made ? fmt::to_string(row.volume.requests) : "-",
                    is_made ? row.workload->summary : std::string_view(row.unsupported_reason));
    text += wrapped(line, indent) + "\n";
  }
  return text + "'slabmark bench WORKLOAD --help' lists the sizes of a workload.\n";
}

Json WorkloadList::description(const std::vector<Row>& rows) const {
  Json list = Json::array();
  for (const Row& row : rows) {
    const bool is_made = row.unsupported_reason.empty();
    list.push_back({{"name", row.workload->name},
                    {"summary", row.workload->summary},
                    {"source", row.workload->source},
                    {"only_reads", row.workload->only_reads},
                    {"sizes", describe_sizes(*row.workload, row.sizes)},
                    {"bytes", is_made ? Json(row.volume.bytes) : Json()},
                    {"requests", is_made ? Json(row.volume.requests) : Json()},
                    {"unsupported_reason", is_made ? Json() : Json(row.unsupported_reason)}});
  }
  return {{"ranks", ranks_}, {"workloads", std::move(list)}};
}

}  // namespace slabmark::bench_program
