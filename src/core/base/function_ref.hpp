#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace slabmark {

template <class Signature>
class FunctionRef;

/// A parameter for any function object that is called before the function with this parameter
/// returns. std::function would own the object, and takes several times as long to compile for each
/// lambda.
template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  template <class Function>
    requires(std::is_invocable_r_v<Result, const Function&, Arguments...> &&
             !std::is_same_v<Function, FunctionRef>)
  FunctionRef(const Function& function)
      : object_(std::addressof(function)),
        call_([](const void* object, Arguments... arguments) -> Result {
          return (*static_cast<const Function*>(object))(std::forward<Arguments>(arguments)...);
        }) {}

  Result operator()(Arguments... arguments) const {
    return call_(object_, std::forward<Arguments>(arguments)...);
  }

 private:
  const void* object_;
  Result (*call_)(const void* object, Arguments... arguments);
};

}  // namespace slabmark
