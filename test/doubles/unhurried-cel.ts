import { celLimits, celModule, wasmCel } from "../../lib/cel/wasm-cel.ts";
import { deadlineMs } from "../deadline.ts";

/** Time ends no expression of a test on a slow machine, so that what is told is the limit that the test is about. */
export const unhurriedLimits = { ...celLimits, maxCpuMs: deadlineMs, maxWallMs: deadlineMs };

/** CEL with these limits. It starts with the first expression. */
export function unhurriedCel(): ReturnType<typeof wasmCel> {
  return wasmCel({ file: celModule, threads: 1, idleMs: 60_000 }, unhurriedLimits);
}
