#include "programs/e3sm_io/report.hpp"

#include <fmt/format.h>

namespace slabmark::e3sm_io {

namespace {

constexpr double mib = 1024.0 * 1024.0;
constexpr double gib = 1024.0 * mib;
constexpr std::string_view pnetcdf_prefix = "pnetcdf-";

std::string line(std::string_view label, const std::string& value) {
  return fmt::format("{:<34} = {}\n", label, value);
}

std::string time_line(std::string_view label, double value) {
  return line(fmt::format("Max Time of {}", label), fmt::format("{:.4f} sec", value));
}

// Only PnetCDF has an allocation counter, and only if it was built with it.
std::string heap_line(const ReportInput& input) {
  const std::string_view library =
      input.method.format == FileFormat::netcdf ? "PnetCDF" : "the library";
  const auto found = input.record.memory.find("library");
  if (found == input.record.memory.end()) {
    return fmt::format(
        "MAX heap memory allocated by {} internally is not available{}\n", library,
        input.method.format == FileFormat::netcdf ? " (it was built without tracing)" : "");
  }
  return fmt::format("MAX heap memory allocated by {} internally is {:.2f} MiB\n", library,
                     found->second.max / mib);
}

// The original timed its calls under their names; a blocking call has nothing left to wait for.
std::string call_lines(const ReportInput& input) {
  const CellRecord& record = input.record;
  const double post = record.summary.seconds(Phase::post);
  const double flush = record.summary.seconds(Phase::flush);
  const std::string name = short_name(input.method);
  if (input.method.format != FileFormat::netcdf) {
    return time_line("posting requests", post) + time_line("flushing requests", flush);
  }
  const bool blocking =
      name == "vard" || record.settings["options"].value("pnetcdf.blocking", "off") == "on";
  if (blocking) return time_line(fmt::format("ncmpi_put_{}", name), post);
  return time_line(fmt::format("ncmpi_iput_{}", name), post) + time_line("ncmpi_wait_all", flush);
}

std::string hint_lines(const CellRecord& record) {
  if (!record.effective.contains("hints")) return "";
  const auto& hints = record.effective["hints"];
  std::string text = fmt::format("MPI File Info: nkeys = {}\n", hints.size());
  int number = 0;
  for (const auto& [key, value] : hints.items()) {
    text += fmt::format("MPI File Info: [{:2}] key = {:>25}, value = {}\n", number++, key,
                        value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

std::string more_lines(const CellRecord& record) {
  std::string text;
  const TrialSummary& total = record.summary.open_to_close.seconds;
  if (record.sync) text += time_line("sync", record.summary.seconds(Phase::sync));
  if (total.trials > 1) {
    text += line("Trials", fmt::format("{}; TOTAL is their median, {} [{:.4f}, {:.4f}] sec",
                                       total.trials, total.interval_name(), total.low, total.high));
  }
  if (record.verified.state == Verified::yes) {
    text += line("Verified", fmt::format("yes, {} elements", record.verified.elements));
  }
  return text;
}

}  // namespace

std::string short_name(const MethodInfo& method) {
  const std::string_view name = method.name;
  return std::string(name.starts_with(pnetcdf_prefix) ? name.substr(pnetcdf_prefix.size()) : name);
}

std::string format_setup(const std::map<std::string, double>& setup, const std::string& mpi_io) {
  return line("MPI-IO implementation", mpi_io) +
         time_line("reading decomposition", setup.at("map_open") + setup.at("map_read")) +
         time_line("sorting + coalescing", setup.at("map_sort"));
}

std::string format_block(const ReportInput& input) {
  const CellRecord& record = input.record;
  const std::string name = short_name(input.method);
  const bool pnetcdf = input.method.format == FileFormat::netcdf;
  std::string text = fmt::format("\n---- benchmarking {} {} {}\n", name, pnetcdf ? "API" : "method",
                                 std::string(pnetcdf ? 23 : 20, '-'));
  if (!record.unsupported.empty()) return text + fmt::format("not run: {}\n", record.unsupported);

  const auto bytes = static_cast<double>(record.pattern.bytes);
  const double total = record.summary.open_to_close.seconds.median;
  if (!input.quiet) text += hint_lines(record);
  text += std::string(59, '-') + "\n";
  text += heap_line(input);
  text += line("Total number of variables", std::to_string(record.pattern.datasets));
  text +=
      line("Total write amount", fmt::format("{:.2f} MiB = {:.2f} GiB", bytes / mib, bytes / gib));
  text += line("Max number of requests", std::to_string(input.max_requests));
  text += time_line("open + metadata define",
                    record.summary.seconds(Phase::create) + record.summary.seconds(Phase::define));
  text += time_line("I/O preparing", record.summary.seconds(Phase::prepare));
  text += call_lines(input);
  text += time_line("close", record.summary.seconds(Phase::close));
  text += time_line("TOTAL", total);
  text += line("I/O bandwidth",
               fmt::format("{:.4f} MiB/sec", mib_per_second(record.pattern.bytes, total)));
  return text + more_lines(record);
}

}  // namespace slabmark::e3sm_io
