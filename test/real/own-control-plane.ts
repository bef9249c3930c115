import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { cacheFolder } from "./folders.ts";

const Printed = z.object({ kubeconfig: z.string(), adminKubeconfig: z.string(), audit: z.string() });

/** Where a control plane that nobody else uses answers. */
export interface OwnControlPlane extends z.infer<typeof Printed>, AsyncDisposable {}

/** Whether the programs are there: whoever names the shared control plane has installed them. */
export function mayHaveOwnControlPlane(): boolean {
  return (process.env["SLUICE_REAL_KUBECONFIG"] ?? "") !== "";
}

/**
 * Another control plane, of the programs that are installed, for what takes in a whole cluster or counts its requests: `sluice
 * local` reconciles every Kustomization that it finds, those of other tests too. It keeps an audit log.
 */
export async function ownControlPlane(): Promise<OwnControlPlane> {
  const cache = await mkdtemp(join(tmpdir(), "sluice-control-plane-"));
  await symlink(join(cacheFolder(), "installed"), join(cache, "installed"));
  const real = async (...args: readonly string[]): Promise<string> => {
    const command = [join(import.meta.dirname, "main.ts"), ...args, "control-plane"];
    const env = { ...process.env, SLUICE_REAL_CACHE: cache };
    return (await promisify(execFile)(process.execPath, command, { env })).stdout;
  };
  const down = async (): Promise<void> => {
    await real("down");
    await rm(cache, { recursive: true, force: true });
  };
  try {
    const addresses = Printed.parse(JSON.parse(await real("up", "--json", "--audit")));
    return { ...addresses, [Symbol.asyncDispose]: down };
  } catch (error) {
    await down();
    throw error;
  }
}
