import "./small-heap.ts";
import { enableCompileCache } from "node:module";
import { parseArgs } from "node:util";

/** `sluice local` without the rest of the command line: for tests and benchmarks that start it as a process. */

// Before anything else is loaded: types are stripped once and not at each start.
enableCompileCache();
const { runLocal } = await import("./run-local.ts");
const { writeLog } = await import("./write-log.ts");

const { values } = parseArgs({
  options: {
    state: { type: "string", default: ".sluice" },
    "registry-port": { type: "string", default: "0" },
    "receiver-port": { type: "string", default: "0" },
    "api-port": { type: "string", default: "0" },
    kubeconfig: { type: "string" },
    context: { type: "string" },
    json: { type: "boolean", default: false },
    verbose: { type: "boolean", default: false },
  },
});
const { kubeconfig, context } = values;
process.exitCode = await runLocal(
  {
    state: values.state,
    registryPort: Number(values["registry-port"]),
    receiverPort: Number(values["receiver-port"]),
    apiPort: Number(values["api-port"]),
    ...(kubeconfig === undefined
      ? {}
      : { kubeconfig: { file: kubeconfig, ...(context === undefined ? {} : { context }) } }),
    log: writeLog((line) => process.stderr.write(line), values.verbose ? "debug" : "info"),
  },
  { json: values.json },
  {
    env: process.env,
    writeOut: (text) => process.stdout.write(text),
    writeError: (text) => process.stderr.write(text),
    onSignal: (listener) => {
      for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, listener);
    },
    exit: (code) => process.exit(code),
  },
);
// What is left, such as a connection that a peer keeps open, must not hold up the end.
process.exit();
