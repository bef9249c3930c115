import { flushCompileCache } from "node:module";
import { messageOf } from "../lib/core/failure.ts";
import { followLauncher } from "./follow-launcher.ts";
import { type LocalOptions, type LocalSluice, startLocal } from "./start-local.ts";

/** What the process around `sluice local` gives it. */
export interface LocalProcess {
  readonly env: Readonly<Record<string, string | undefined>>;
  writeOut(text: string): void;
  writeError(text: string): void;
  /** Calls `listener` for each SIGTERM, SIGINT and SIGHUP. */
  onSignal(listener: () => void): void;
  /** Ends the process now, whatever still runs. */
  exit(code: number): never;
}

/** An orphan has a second from its launcher's death, of which noticing it took up to a quarter. */
const orphanEndsWithinMs = 500;

/**
 * `sluice local`: starts, says where everything is, and stays until it is told to end. Answers the exit code: 0 where it
 * was told to end, 1 where it could not start, with one line on standard error.
 */
export async function runLocal(
  options: Omit<LocalOptions, "env">,
  { json }: { readonly json: boolean },
  process: LocalProcess,
): Promise<number> {
  const stop = new AbortController();
  process.onSignal(() => stop.abort());
  const launcher = followLauncher(process.env, () => {
    stop.abort();
    setTimeout(() => process.exit(1), orphanEndsWithinMs);
  });
  try {
    const sluice = await startLocal({ ...options, env: process.env }, stop.signal);
    if (!stop.signal.aborted) {
      process.writeOut(json ? readyJson(sluice) : readyText(sluice));
      // Written at a normal end only, which a process that is killed does not have: the next start would be slow too.
      flushCompileCache();
      await aborted(stop.signal);
    }
    await sluice.close();
    return 0;
  } catch (error) {
    if (stop.signal.aborted) return 0;
    process.writeError(`sluice local: ${messageOf(error)}\n`);
    return 1;
  } finally {
    launcher.stop();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function readyJson({ kubeconfig, registry, receiver, state }: LocalSluice): string {
  return `${JSON.stringify({ ready: true, kubeconfig, registry, receiver, state })}\n`;
}

function readyText({ kubeconfig, registry, receiver, state }: LocalSluice): string {
  return [
    "Sluice is ready.",
    `  cluster   export KUBECONFIG=${kubeconfig}`,
    `  registry  oci://${registry} (plain HTTP: give --insecure-registry)`,
    `  receiver  ${receiver}`,
    `  state     ${state}`,
    "",
  ].join("\n");
}
