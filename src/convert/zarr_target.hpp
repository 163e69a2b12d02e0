#pragma once

#include <memory>
#include <string>
#include <vector>

#include "convert/settings.hpp"
#include "convert/target.hpp"
#include "core/parallel/comm.hpp"

namespace slabmark::convert {

/// Throws InputError, which names `input`, for what a Zarr store cannot hold: characters, names,
/// and attributes that are not JSON; and for filters that it does not have.
void require_zarr(const FileContents& contents, const Settings& settings, const std::string& input);

/// The contents as they are read from a store: no dimension is unlimited, those without variables
/// are gone, and numbers in attributes have the types that JSON leaves them.
FileContents as_in_zarr(const FileContents& contents);

/// Collective: makes a Zarr v3 store, whose directory must not exist yet. Shares must begin and end
/// at its chunks. The contents and chunks outlive it.
std::unique_ptr<Target> create_zarr(const Comm& comm, const std::string& path,
                                    const FileContents& contents, const std::vector<Extent>& chunks,
                                    const Settings& settings);

}  // namespace slabmark::convert
