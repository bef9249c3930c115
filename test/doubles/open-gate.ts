import type { WriteGate } from "../../lib/core/ports/write-gate.ts";

/** A gate for tests that are about something else. */
export const openGate: WriteGate = { enter: async () => undefined, assertOpen: () => undefined };
