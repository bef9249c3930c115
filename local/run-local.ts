import { flushCompileCache } from "node:module";
import { messageOf } from "../lib/core/failure.ts";
import { type LocalOptions, type LocalSluice, startLocal } from "./start-local.ts";

/** What the process around `sluice local` gives it. */
export interface LocalProcess {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly writeOut: (text: string) => void;
  readonly writeError: (text: string) => void;
  /** Aborted when it is told to end. */
  readonly signal: AbortSignal;
}

/**
 * `sluice local`: starts, says where everything is, and stays until it is told to end. Answers the exit code: 0 where it
 * was told to end, 1 where it could not start or end, with one line on standard error.
 */
export async function runLocal(
  options: Omit<LocalOptions, "env">,
  { json }: { readonly json: boolean },
  { env, signal, writeOut, writeError }: LocalProcess,
): Promise<number> {
  let isClosing = false;
  try {
    const sluice = await startLocal({ ...options, env }, signal);
    if (!signal.aborted) {
      writeOut(json ? readyJson(sluice) : readyText(sluice));
      // Written at a normal end only, which a process that is killed does not have: the next start would be slow too.
      flushCompileCache();
      await aborted(signal);
    }
    isClosing = true;
    await sluice.close();
    return 0;
  } catch (error) {
    // Told to end while it started: what was given up for that is no failure.
    if (signal.aborted && !isClosing) return 0;
    writeError(`✗ sluice local: ${messageOf(error)}\n`);
    return 1;
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
