import { setFlagsFromString } from "node:v8";

// This module sets two flags of V8: when it compiles code of WebAssembly modules a second time. It has to be imported first. The command line
// also runs on older versions of Node, whose V8 may not know the flags and would say so on stderr.
const major = Number(process.versions.node.split(".", 1)[0]);
const set = (flag: string): void => {
  if (major >= 24) setFlagsFromString(flag);
};

// A module calls its imports by V8's generic wrapper for ever. By default V8 compiles a wrapper of its own for an import after 1,000
// calls, and frees the code of the wrapper before. Where threads start and end beside that, the V8 of Node 24 aborts the process at
// times: "Check failed: jit_page_->allocations_.erase(addr) == 1" below Runtime_TierUpWasmToJSWrapper
// (https://github.com/nodejs/node/issues/64500). Builds take the same time either way.
const mostCalls = 2 ** 31 - 1;
set(`--wasm-wrapper-tiering-budget=${mostCalls}`);

// So many bytes of a function run before V8 optimizes it, in place of 13 million. A process that renders a few charts otherwise spends
// more on the compiler than on the charts, and its first builds compete with it. Later ones take the same time either way.
const bytesBeforeOptimizing = 100_000_000;
set(`--wasm-tiering-budget=${bytesBeforeOptimizing}`);
