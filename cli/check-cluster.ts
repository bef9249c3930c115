import { kinds } from "../infra/kinds.ts";
import { messageOf } from "../lib/core/failure.ts";
import { describeOwner, type Owner, ownerOf } from "../lib/gate/cluster-owner.ts";
import type { Session } from "./settings.ts";

export interface CheckOptions {
  readonly orphans?: boolean;
  readonly state?: string;
  readonly output: string;
}

/**
 * `check`: one line for each thing that was looked at.
 *
 * @throws Error `check failed` where something is not as it should be
 */
export async function checkCluster(options: CheckOptions, session: Session): Promise<void> {
  const { output, orphans, state } = options;
  if (!["table", "json"].includes(output)) throw new Error(`--output must be table or json, not ${output}`);
  if (orphans !== true && state !== undefined) throw new Error("--state needs --orphans");
  const areServed = await checkKinds(session);
  const owner = await checkOwner(session);
  let isClean = true;
  if (orphans === true && areServed && owner !== "unreadable") {
    const { checkOrphans } = await import("./check-orphans.ts");
    isClean = await checkOrphans({ owner, state, isJson: output === "json" }, session);
  }
  if (!areServed || owner === "unreadable" || !isClean) throw new Error("check failed");
  session.terminal.success("all checks passed");
}

async function checkKinds({ cluster, terminal, signal }: Session): Promise<boolean> {
  terminal.action("checking crds");
  let areServed = true;
  for (const { group, kind, plural, versions } of kinds) {
    const [version] = versions;
    const name = `${plural}.${group}/${version}`;
    if ((await cluster.resource({ group, kind, version }, signal)) !== undefined) {
      terminal.success(name);
      continue;
    }
    areServed = false;
    terminal.failure(`${name} is not served: sluice local installs it`);
  }
  return areServed;
}

async function checkOwner({ cluster, terminal, signal }: Session): Promise<Owner | undefined | "unreadable"> {
  terminal.action("checking the owner of this cluster");
  try {
    const owner = await ownerOf(cluster, signal);
    terminal.success(owner === undefined ? "none yet" : describeOwner(owner));
    return owner;
  } catch (error) {
    signal.throwIfAborted();
    terminal.failure(messageOf(error));
    return "unreadable";
  }
}
