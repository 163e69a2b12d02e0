#include "capture/record/streams/definition_stream.hpp"

#include <cstdio>

#include "capture/record/streams/process.hpp"

namespace slabmark::capture {

namespace {

void append_json(std::string& json, std::string_view text) {
  json += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (static_cast<unsigned char>(c) < ' ') {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      json += escape;
    } else {
      json += c;
    }
  }
  json += '"';
}

}  // namespace

std::string as_json(std::string_view text) {
  std::string json;
  append_json(json, text);
  return json;
}

void DefinitionStream::put(std::string_view json) {
  if (!is_begun_) {
    is_begun_ = true;
    put(process_json());
  }
  put_varint(bytes_, json.size());
  bytes_.insert(bytes_.end(), json.begin(), json.end());
}

Id DefinitionStream::open_file(std::string_view json) {
  put(json);
  return files_++;
}

Id DefinitionStream::define(std::string_view json) {
  if (const auto known = known_.find(json); known != known_.end()) return known->second;
  const auto id = static_cast<Id>(known_.size());
  known_.emplace(json, id);
  put(json);
  ends_block_.push_back(false);
  return id;
}

Id DefinitionStream::define_call(std::string_view name, std::string_view effect) {
  call_text_.assign("{\"effect\":\"").append(effect).append("\",\"kind\":\"call\",\"name\":");
  append_json(call_text_, name);
  call_text_ += '}';
  const Id id = define(call_text_);
  ends_block_[id] = effect == "flush" || effect == "close" || effect == "step";
  return id;
}

}  // namespace slabmark::capture
