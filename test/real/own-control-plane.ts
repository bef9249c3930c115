import { z } from "zod";
import { ownPart } from "./own-part.ts";

const Printed = z.object({ kubeconfig: z.string(), adminKubeconfig: z.string(), audit: z.string() });

/** The addresses of a control plane for one test file. */
export interface OwnControlPlane extends z.infer<typeof Printed>, AsyncDisposable {}

/** Whether the programs are installed: the shared control plane, if named, runs from them. */
export function mayHaveOwnControlPlane(): boolean {
  return (process.env["SLUICE_REAL_KUBECONFIG"] ?? "") !== "";
}

/**
 * Another control plane, for tests that need a whole cluster or count its requests: `sluice local` reconciles every Kustomization
 * that it finds, those of other tests too. It keeps an audit log. Its API server may be started with further arguments.
 */
export async function ownControlPlane(...apiServerArgs: readonly string[]): Promise<OwnControlPlane> {
  const env = { SLUICE_REAL_API_SERVER_ARGS: apiServerArgs.join(" ") };
  return ownPart("control-plane", Printed, { flags: ["--audit"], env });
}
