import type { KindDeclaration } from "../lib/api/kinds/declaration.ts";
import { readKinds } from "../lib/api/kinds/declared-kinds.ts";
import { subject } from "../lib/core/object-ref.ts";
import { planUninstall, type UninstallPlan, uninstall } from "../lib/definitions/uninstall.ts";
import { ownerOf } from "../lib/gate/cluster-owner.ts";
import { ownerObjectName } from "../lib/gate/owner-object.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { refuseBesideFlux } from "../local/refuse-beside-flux.ts";
import { author } from "./pause-cluster.ts";
import type { Session } from "./session.ts";

export interface UninstallOptions {
  readonly dryRun?: boolean;
  /** flux's word for "without a question". */
  readonly silent?: boolean;
  readonly yes?: boolean;
  readonly keepCrds?: boolean;
}

/** `uninstall`: lists what it removes, asks, and removes it. What Sluice has applied stays. */
export async function uninstallCluster(
  kinds: readonly KindDeclaration[],
  { dryRun = false, silent = false, yes = false, keepCrds = false }: UninstallOptions,
  session: Session,
): Promise<void> {
  const { cluster, terminal, signal } = session;
  const clock = systemClock;
  const log = { debug: () => {}, info: () => {}, error: () => {}, warn: (line: string) => terminal.warning(line) };
  const removal = { keepDefinitions: keepCrds };
  const defined = [...kinds, ...readKinds];
  const plan = await planUninstall(removal, { cluster, kinds: defined }, signal);
  const owner = await ownerOf(cluster, signal).catch(() => undefined);
  const lines = linesOf(plan);
  if (lines.length === 0) {
    terminal.success("nothing of Sluice is on this cluster");
    return;
  }
  terminal.out(lines.map((line) => `${line}\n`).join(""));
  await refuseBesideFlux(cluster, { clock, log, kinds }, signal);
  if (dryRun) {
    terminal.success("nothing was changed (dry run)");
    return;
  }
  if (!silent && !yes && !(await isConfirmed(session))) {
    terminal.action("nothing was removed");
    return;
  }
  terminal.waiting("pausing the cluster, so that Sluice writes nothing meanwhile");
  const report = (line: string): void => terminal.success(line);
  await uninstall(`sluice uninstall of ${author()}`, removal, { cluster, clock, kinds: defined, report }, signal);
  terminal.success("uninstall finished; what Sluice has applied stays as it is");
  if (owner !== undefined) {
    terminal.warning(
      `if ${owner.id} still runs, it may become the owner of this cluster again: stop it, or remove the cluster from it`,
    );
  }
}

async function isConfirmed({ terminal }: Session): Promise<boolean> {
  if (terminal.confirm === undefined) throw new Error("uninstall removes what is listed: confirm it with --yes");
  return terminal.confirm("Remove all this from the cluster? What Sluice has applied stays.");
}

function linesOf({ released, deleted, definitions, rights, hasOwner }: UninstallPlan): readonly string[] {
  return [
    ...released.map((ref) => `release ${subject(ref)}`),
    ...[...deleted, ...definitions, ...rights].map((ref) => `delete ${subject(ref)}`),
    ...(hasOwner ? [`delete ${ownerObjectName}`] : []),
  ];
}
