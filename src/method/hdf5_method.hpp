#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "method/method.hpp"
#include "storage/hdf5/file.hpp"

namespace slabmark {

/// Entry with what the HDF5 methods have in common: format, options, what HDF5 cannot hold.
MethodInfo hdf5_info(std::string name, std::string summary);

/// What HDF5 methods share: the file with one dataset for each of the pattern, time as an unlimited
/// chunked dimension, and the report of what the library did.
class Hdf5Method : public Method {
 public:
  void create(const std::string& path) override;
  void define() override;
  void open(const std::string& path) override;
  void sync() override;
  void close() override;
  nlohmann::json effective() const override;

 protected:
  explicit Hdf5Method(const MethodContext& context);

  bool writing() const { return context_.direction == Direction::write; }
  bool collective() const { return collective_; }

  /// File space of a dataset, large enough for `time`. When writing, collective: the dataset grows
  /// where it must.
  hdf5::Space& file_space(std::size_t dataset, std::uint64_t time);

  /// One H5Dwrite or H5Dread, counted with what HDF5 made of it.
  void move(std::size_t dataset, const hdf5::Space& memory, const hdf5::Space& file, void* data);

  MethodContext context_;

 private:
  struct OpenDataset {
    hdf5::Dataset dataset;
    hdf5::Space space;
    std::uint64_t records;
  };

  bool collective_;
  hdf5::AccessSettings access_;
  hdf5::CreationSettings creation_;
  hdf5::TransferList transfer_;
  hdf5::File file_;  // before datasets_, which must be closed first
  std::vector<OpenDataset> datasets_;
  std::map<std::string, std::uint64_t> calls_;
  std::map<std::string, std::uint64_t> modes_;
  std::set<std::string> causes_;
  nlohmann::json at_close_;
};

}  // namespace slabmark
