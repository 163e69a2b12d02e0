// A method to start from: copy this file, rename the class and the function at the end, fill in
// what the comments say, and add one line to registry.cpp. It compiles with the rest, so that it
// stays right, but is not in the registry: it moves nothing.

#include "method/options.hpp"
#include "method/raw/raw_layout.hpp"
#include "method/shared/effective.hpp"

namespace slabmark {

MethodInfo template_method();

namespace {

struct TemplateOptions {
  bool careful = true;
};

// Options start with the library's name, and are shared by the methods of a library. Default, kind
// and values follow from the member; Size, SizeOr and Words say more.
OptionTable<TemplateOptions> options() {
  OptionTable<TemplateOptions> table;
  table.add("template.careful", &TemplateOptions::careful, "what it does, and what off means");
  return table;
}

class Template : public Method {
 public:
  // One object serves one trial, so nothing has to be reset; what is dear to make and serves the
  // next file, too, is left in context.kept.
  explicit Template(const MethodContext& context)
      : context_(context), options_(options().read(context.settings)) {}

  // All ranks together. `path` does not exist yet. Nothing may hang if one rank fails in a step of
  // its own: put that step into agreed().
  void create(const std::string&) override {}

  // Dimensions, datasets, attributes of context_.pattern, allocation, fill.
  void define() override {}

  // Instead of create and define when reading.
  void open(const std::string&) override {}

  // What the selections need, once: SelectionCache shares it between datasets, RoundMaxima tells
  // what all ranks must know of each other for collective calls (one reduction).
  void prepare() override {}

  // Called for each round; several may come before flush(). A blocking library moves the data here,
  // a nonblocking one only takes the requests. Look at pattern.transfers(round)[i] and buffers[i].
  // MemoryCursor and FileOrder give memory in selection order or in file order.
  void post(std::uint64_t, std::span<std::byte* const>) override { ++calls_; }

  // After this the caller may reuse the buffers, which must hold what they held before post().
  void flush() override {}

  // Make it durable; called only if asked for.
  void sync() override {}

  // Ask the library for what effective() reports before it forgets; the clock stands still.
  void inspect() override {}
  void close() override {}

  // What really happened: calls made, hints in effect, version, and whatever explains the times.
  nlohmann::json effective() const override {
    nlohmann::json effective = {{"calls", {{"template_write", calls_}}},
                                {"careful", options_.careful}};
    report_hints(effective, context_.settings, {});
    return effective;
  }

 private:
  MethodContext context_;
  TemplateOptions options_;
  std::uint64_t calls_ = 0;
};

}  // namespace

MethodInfo template_method() {
  return {.name = "template",
          .summary = "one line for the list of methods",
          .format = FileFormat::none,
          .options = options(),
          // The reason as a clause if the library cannot hold this pattern; asked before anything
          // is created.
          .supports = fits_raw,
          // Nothing, and the reason in `missing`, where the build lacks the library, see
          // pnetcdf/info.cpp.
          .make = make_method<Template>};
}

}  // namespace slabmark
