import { flushCompileCache } from "node:module";
import { messageOf } from "../lib/core/failure.ts";
import { type JoinedCluster, retryMs } from "./join-clusters.ts";
import { shellWord } from "./own-installation.ts";
import { type LocalOptions, type LocalSluice, startLocal } from "./start-local.ts";
import { notificationsPath } from "./start-receiver.ts";

/** Everything that `sluice local` gets from its process. */
export interface LocalProcess {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly writeOut: (text: string) => void;
  readonly writeError: (text: string) => void;
  /** Aborted when it is to stop. */
  readonly signal: AbortSignal;
}

interface Manner {
  /** Prints the ready line as JSON. */
  readonly json: boolean;
  /** When it is stopped, prints where the state stays and how to remove it. */
  readonly saysWhereStateIs: boolean;
}

/**
 * `sluice local`: starts, says where everything is, and runs until it is stopped. Answers the exit code: 0 if it was stopped, 1
 * if it could not start or end, with one line on standard error.
 */
export async function runLocal(
  options: Omit<LocalOptions, "env">,
  { json, saysWhereStateIs }: Manner,
  { env, signal, writeOut, writeError }: LocalProcess,
): Promise<number> {
  let isClosing = false;
  try {
    const sluice = await startLocal({ ...options, env }, signal);
    if (!signal.aborted) {
      writeOut(json ? readyJson(sluice) : readyText(sluice));
      // Node writes it at a normal end only: after a kill the next start would be slow too.
      flushCompileCache();
      await aborted(signal);
    }
    if (saysWhereStateIs) writeError(stoppingText(options.state, sluice.state));
    isClosing = true;
    await sluice.close();
    return 0;
  } catch (error) {
    // Stopped while it started: an error of the interrupted start is not a failure.
    if (signal.aborted && !isClosing) return 0;
    writeError(`✗ sluice local: ${messageOf(error)}\n`);
    return 1;
  }
}

function stoppingText(given: string, path: string): string {
  const command = given === ".sluice" ? "sluice local" : `sluice local --state ${shellWord(given)}`;
  return `Stopping. The state stays in ${path}: ${command} goes on from there, ${command} --reset removes it.\n`;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function readyJson({ kubeconfig, registry, receiver, state, clusters }: LocalSluice): string {
  return `${JSON.stringify({ ready: true, kubeconfig, registry, receiver, state, clusters })}\n`;
}

function readyText({ clusters, registry, receiver, state }: LocalSluice): string {
  const served = clusters.filter(({ id }) => id !== undefined).length;
  return [
    clusters.length === 1 ? "Sluice is ready." : `Sluice is ready on ${served} of ${clusters.length} clusters.`,
    ...clusters.map((cluster) => `  cluster   ${clusterText(cluster, clusters.length === 1)}`),
    `  registry  oci://${registry} (plain HTTP)`,
    `  receiver  ${receiver}`,
    `  messages  ${receiver}${notificationsPath} (what Alerts send)`,
    `  state     ${state}`,
    "",
  ].join("\n");
}

function clusterText({ name, kubeconfig, context, fault }: JoinedCluster, isOnly: boolean): string {
  if (isOnly) return `export KUBECONFIG=${kubeconfig}`;
  if (fault !== undefined) return `${name}: not served yet, tried again every ${retryMs / 1_000} s: ${fault}`;
  const words = ["kubectl", "--kubeconfig", kubeconfig, ...(context === undefined ? [] : ["--context", context])];
  return `${name}: ${words.map(shellWord).join(" ")}`;
}
