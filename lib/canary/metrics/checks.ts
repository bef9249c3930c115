/** Whether a check lets the run go on; if not, the event's text says why, in Flagger's words. */
export type CheckResult = { readonly isPassed: true } | { readonly isPassed: false; readonly text: string };

/** The metrics of a Canary, for one step. */
export interface MetricChecks {
  /** Built-in metrics and inline queries in their order, then templates. Stops at the first that fails. */
  check(): Promise<CheckResult>;
  /** Asks each server whether it answers. Throws an `Error` with the text after `Error checking metric providers: `. */
  probe(): Promise<void>;
}
