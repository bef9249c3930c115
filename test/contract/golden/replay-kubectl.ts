import type { RecordedStep } from "./recorded-case.ts";
import type { Replay } from "./replay-case.ts";

export async function replayKubectl(_replay: Replay, _step: RecordedStep, _args: readonly string[]): Promise<string | undefined> {
  return "not yet";
}
