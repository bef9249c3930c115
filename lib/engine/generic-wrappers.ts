import { setFlagsFromString } from "node:v8";

// Imported first, for its effect: a WebAssembly module calls its imports by V8's generic wrapper for ever. By default V8 compiles
// a wrapper of its own for an import after 1,000 calls, and frees the code of the wrapper before. Where threads start and end
// beside that, the V8 of Node 24 aborts the process at times: "Check failed: jit_page_->allocations_.erase(addr) == 1" below
// Runtime_TierUpWasmToJSWrapper (https://github.com/nodejs/node/issues/64500). Builds take the same time either way.
const mostCalls = 2 ** 31 - 1;
// The command line also runs on older versions of Node, whose V8 may not know the flag and would say so on stderr.
const major = Number(process.versions.node.split(".", 1)[0]);
if (major >= 24) setFlagsFromString(`--wasm-wrapper-tiering-budget=${mostCalls}`);
