import { mapLimit } from "../../lib/core/concurrency.ts";
import type { Addresses } from "./addresses.ts";
import { install } from "./install.ts";
import type { Part } from "./part.ts";
import { partState } from "./part-state.ts";
import { startPart } from "./start-part.ts";
import { stopPart } from "./stop-part.ts";
import type { Program } from "./versions.ts";

export interface UpOptions {
  readonly audit: boolean;
  readonly say: (line: string) => void;
}

/** Installs and starts the parts that are not up, and answers the addresses of all of them. */
export async function up(parts: readonly Part[], { audit, say }: UpOptions, signal: AbortSignal): Promise<Addresses> {
  const states = await Promise.all(parts.map(async (part) => ({ part, state: await partState(part) })));
  let addresses: Addresses = {};
  const wanted: Part[] = [];
  for (const { part, state } of states) {
    if (state.kind === "up" && hasAudit(part, state.started.addresses, audit)) {
      addresses = { ...addresses, ...state.started.addresses };
      continue;
    }
    if (state.kind === "broken") say(`${part.name}: starting it anew, for ${state.reason}`);
    if (state.kind === "up") say(`${part.name}: starting it anew, for it keeps no audit log`);
    wanted.push(part);
  }
  const installed = await installAll(wanted, say, signal);
  const starting = wanted.map(async (part) => {
    await stopPart(part.name, signal);
    const found = await startPart(part, { installed, audit }, signal);
    say(`${part.name}: up`);
    return found;
  });
  const results = await Promise.allSettled(starting);
  const failed = results.filter((result) => result.status === "rejected").map(({ reason }): unknown => reason);
  if (failed.length === 1) throw failed[0];
  if (failed.length > 1) throw new AggregateError(failed, "several parts could not be started");
  return results.reduce(
    (all, result) => (result.status === "fulfilled" ? { ...all, ...result.value } : all),
    addresses,
  );
}

const hasAudit = ({ name }: Part, addresses: Addresses, wanted: boolean): boolean =>
  name !== "control-plane" || !wanted || addresses.audit !== undefined;

async function installAll(
  parts: readonly Part[],
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<ReadonlyMap<Program, string>> {
  const all = parts.flatMap((part) => part.installations.map((installation) => ({ part, installation })));
  // Two parts may run the same programs.
  const work = [...new Map(all.map((one) => [one.installation.program, one])).values()];
  const installOne = async ({ part, installation }: (typeof work)[number], stop: AbortSignal) =>
    [installation.program, await install(installation, part.name, say, stop)] as const;
  const lanes = [...Map.groupBy(work, ({ installation }) => installation.toolchain)];
  const installLane = async ([toolchain, lane]: (typeof lanes)[number], stop: AbortSignal) => {
    // Go's cache has no locks: two builds at the same time both compile what they share. The first brings most of that.
    const first = await mapLimit(lane.slice(0, 1), 1, installOne, stop);
    return [...first, ...(await mapLimit(lane.slice(1), toolchain === "go" ? goBuilds : 1, installOne, stop))];
  };
  return new Map((await mapLimit(lanes, lanes.length, installLane, signal)).flat());
}

/** A build ends with a linker that keeps one processor busy, and some packages are as long as many others together. */
const goBuilds = 2;
