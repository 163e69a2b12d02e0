#include "bench/method/pnetcdf/info.hpp"
#include "bench/method/rearranged/method.hpp"

#if SLABMARK_WITH_PNETCDF
#include <algorithm>
#include <bit>
#include <limits>
#include <memory>

#include "bench/method/pnetcdf/method.hpp"
#include "bench/method/raw/raw_layout.hpp"
#include "collective/locator/netcdf_locator.hpp"
#include "storage/mpiio/element_type.hpp"
#include "storage/mpiio/info.hpp"
#endif

namespace slabmark {

#if SLABMARK_WITH_PNETCDF
namespace {

/// A CDF-5 file whose header PnetCDF writes. The numbers are the offset of each variable (of its
/// first record) and the size of a record.
class NetcdfHeader : public RearrangedHeader {
 public:
  explicit NetcdfHeader(const Pattern& pattern) : pattern_(pattern) {}

  void create(const std::string& path, const mpiio::Hints& hints) override {
    // Variables side by side, so that what is written is one piece.
    mpiio::Hints all = {{"nc_var_align_size", "1"}};
    all.insert(all.end(), hints.begin(), hints.end());
    const mpiio::Info info(all);
    file_ = std::make_unique<pnetcdf::File>(
        pnetcdf::File::create(MPI_COMM_SELF, path, NC_NOCLOBBER | NC_64BIT_DATA, info.get()));
    hints_ = hints;
  }

  std::vector<std::uint64_t> define() override {
    const auto variables = define_variables(*file_, pattern_);
    file_->enddef();
    const auto numbers = locate(variables);
    begin_ = numbers.size() > 1 ? *std::min_element(numbers.begin(), numbers.end() - 1)
                                : std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t records = record_count(pattern_);
    if (records > 0) set_record_count(variables, records);
    const std::string path = file_->path();
    file_->close();
    resize(path, numbers, std::max<std::uint64_t>(records, 1));
    return numbers;
  }

  std::vector<std::uint64_t> read(const std::string& path) override {
    file_ = std::make_unique<pnetcdf::File>(pnetcdf::File::open(MPI_COMM_SELF, path));
    const auto numbers = locate(find_variables(*file_, pattern_));
    file_->close();
    return numbers;
  }

  // The header stands before all variables.
  RunList metadata(std::uint64_t file_bytes) const override {
    return {{0, std::min(file_bytes, begin_)}};
  }

  std::uint64_t offset(std::span<const std::uint64_t> numbers, std::size_t dataset,
                       std::uint64_t time) const override {
    return numbers[dataset] + (pattern_.datasets[dataset].has_time ? time * numbers.back() : 0);
  }

  bool swaps_bytes() const override { return std::endian::native == std::endian::little; }

  // Variables begin at multiples of 4.
  std::uint64_t padding() const override { return 3; }

  std::string library() const override { return "PnetCDF " + pnetcdf::library_version(); }

 private:
  std::vector<std::uint64_t> locate(const std::vector<int>& variables) const {
    collective::NetcdfLocator locator(collective::NetcdfFunctions::linked(), file_->id());
    std::vector<std::uint64_t> numbers;
    for (const int id : variables) {
      const auto* const variable = locator.variable(id);
      pnetcdf::check(locator.error(), "ncmpi_inq_var", file_->path(), 0);
      numbers.push_back(variable->offset);
    }
    numbers.push_back(locator.record_bytes());
    pnetcdf::check(locator.error(), "ncmpi_inq_recsize", file_->path(), 0);
    return numbers;
  }

  // PnetCDF enters the number of records into the header when one is written: one element does.
  void set_record_count(const std::vector<int>& variables, std::uint64_t records) {
    const auto with_time = std::find_if(pattern_.datasets.begin(), pattern_.datasets.end(),
                                        [](const Dataset& dataset) { return dataset.has_time; });
    const auto index = static_cast<std::size_t>(with_time - pattern_.datasets.begin());
    std::vector<MPI_Offset> start(with_time->dimensions.size() + 1, 0);
    const std::vector<MPI_Offset> count(start.size(), 1);
    start.front() = static_cast<MPI_Offset>(records - 1);
    const std::uint64_t nothing = 0;
    file_->put_vara_all(variables[index], start.data(), count.data(), &nothing, 1,
                        mpiio::mpi_type_of(with_time->type));
  }

  // The full size at once, as in headerless files: what no rank writes reads as zero.
  void resize(const std::string& path, std::span<const std::uint64_t> numbers,
              std::uint64_t records) const {
    std::uint64_t end = 0;
    for (std::size_t d = 0; d < pattern_.datasets.size(); ++d) {
      const Dataset& dataset = pattern_.datasets[d];
      const std::uint64_t bytes = element_count(dataset.extent()) * size_of(dataset.type);
      end = std::max(end, offset(numbers, d, records - 1) + bytes);
    }
    if (end == 0) return;
    auto file = mpiio::File::open(MPI_COMM_SELF, path, mpiio::File::Access::write, hints_);
    file.resize(end);
    file.close();
  }

  const Pattern& pattern_;
  mpiio::Hints hints_;
  std::uint64_t begin_ = 0;  ///< of the first variable, after define()
  std::unique_ptr<pnetcdf::File> file_;
};

}  // namespace
#endif

MethodInfo pnetcdf_rearranged_method() {
  auto info = pnetcdf_info("pnetcdf-rearranged",
                           "data rearranged collectively, header by PnetCDF, large writes",
                           rearranged_options("pnetcdf"));
  info.overlaps_in_mpiio = nullptr;  // each element comes from one rank
#if SLABMARK_WITH_PNETCDF
  info.make = [](const MethodContext& context) -> std::unique_ptr<Method> {
    return std::make_unique<RearrangedMethod>(context, "pnetcdf",
                                              std::make_unique<NetcdfHeader>(context.pattern));
  };
#endif
  return info;
}

}  // namespace slabmark
