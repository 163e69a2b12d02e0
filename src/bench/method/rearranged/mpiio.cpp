#include "bench/method/raw/raw_layout.hpp"
#include "bench/method/rearranged/method.hpp"

namespace slabmark {

namespace {

/// A headerless file: where everything lies follows from the pattern.
class RawHeader : public RearrangedHeader {
 public:
  explicit RawHeader(const Pattern& pattern) : layout_(pattern) {}

  void create(const std::string& path, const mpiio::Hints& hints) override {
    file_ = mpiio::File::create(MPI_COMM_SELF, path, hints);
  }

  std::vector<std::uint64_t> define() override {
    file_.resize(layout_.bytes());
    file_.close();
    return {};
  }

  std::vector<std::uint64_t> read(const std::string&) override { return {}; }

  std::uint64_t offset(std::span<const std::uint64_t>, std::size_t dataset,
                       std::uint64_t time) const override {
    return layout_.offset(dataset, time);
  }

 private:
  RawLayout layout_;
  mpiio::File file_;
};

}  // namespace

MethodInfo mpiio_rearranged_method() {
  return {.name = "mpiio-rearranged",
          .summary = "data rearranged collectively, large MPI_File_write_at, headerless file",
          .format = FileFormat::raw,
          .options = rearranged_options("mpiio"),
          .supports = fits_raw,
          .make = [](const MethodContext& context) -> std::unique_ptr<Method> {
            return std::make_unique<RearrangedMethod>(context, "mpiio",
                                                      std::make_unique<RawHeader>(context.pattern));
          }};
}

}  // namespace slabmark
