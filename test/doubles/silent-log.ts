import type { Log } from "../../lib/core/ports/log.ts";

/** A log for tests that do not look at it. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
