import { z } from "zod";

/** Names the file that `tell-run.ts` writes to. */
export const reportVariable = "SLUICE_FAULT_REPORT";

const texts = z.array(z.string()).readonly();

export const TestReport = z.object({
  /** Names of tests, with those of the suites around them. */
  passed: texts,
  /** Tests, and hooks with their error. */
  failed: texts,
  skipped: z.number(),
  /** Why a test file could not be loaded, for each such file. */
  unloaded: texts,
  /** Errors that belong to no test, such as an unhandled rejection or a worker that died. */
  stray: texts,
});
/** What a run of tests said. */
export type TestReport = z.infer<typeof TestReport>;
