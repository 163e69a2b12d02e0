#pragma once

#include <memory>
#include <string>
#include <vector>

#include "convert/source.hpp"

namespace slabmark::convert {

/// A file of a series, which messages call by its path.
struct SeriesFile {
  std::string path;
  std::unique_ptr<Source> source;
};

std::vector<Source*> sources_of(const std::vector<SeriesFile>& files);

/// The records of several files one after another along their unlimited dimension, as one source.
/// Structure and attributes of variables must be the same in all; attributes of the file are those
/// of the first. Variables without records must hold the same, which is checked where they are
/// read. Not collective. Throws InputError, also where the unlimited dimension's coordinates do not
/// ascend from file to file.
std::unique_ptr<Source> join(std::vector<SeriesFile> files);

}  // namespace slabmark::convert
