import { access } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { type KubeconfigQuery, readKubeconfig } from "../lib/kube/kubeconfig.ts";

/** How a command without `--kubeconfig` uses the `.sluice/kubeconfig` of the working folder. */
export type LocalKubeconfig =
  | { readonly kind: "none" }
  | { readonly kind: "used"; readonly file: string }
  /** kubectl would take `inFavourOf`, and so does Sluice: no command works on another cluster only because of its folder. */
  | { readonly kind: "passed over"; readonly file: string; readonly inFavourOf: string };

/**
 * Finds the kubeconfig that `sluice local` wrote into the working folder, for a user who gives no other: it comes after
 * `KUBECONFIG`, `~/.kube/config` and the service account of a pod.
 *
 * @throws Error if the file is not of the form that `sluice local` writes: a cloned repository may bring one that runs a
 * program or sends a file elsewhere
 */
export async function findLocalKubeconfig({
  env,
  homeDir,
  cwd,
}: Pick<KubeconfigQuery, "env" | "homeDir"> & { readonly cwd: string }): Promise<LocalKubeconfig> {
  const isGiven = (env["KUBECONFIG"] ?? "").split(delimiter).some((path) => path !== "");
  const file = join(cwd, ".sluice", "kubeconfig");
  if (isGiven || !(await exists(file))) return { kind: "none" };
  const usual = join(homeDir, ".kube", "config");
  if (await exists(usual)) return { kind: "passed over", file, inFavourOf: usual };
  if ((env["KUBERNETES_SERVICE_HOST"] ?? "") !== "") return { kind: "none" };
  const { server, proxy, user } = await readKubeconfig({ file, env, homeDir });
  const isLoopback = server.protocol === "http:" && server.hostname === "127.0.0.1" && proxy === undefined;
  if (isLoopback && user.token?.kind === "token") return { kind: "used", file };
  throw new Error(
    `${file} was not written by sluice local: give --kubeconfig ${file} if you trust it, or another kubeconfig`,
  );
}

/** The line that says which cluster a command works on; undefined if there is nothing to say. */
export function describeLocalKubeconfig(found: LocalKubeconfig): string | undefined {
  switch (found.kind) {
    case "none":
      return undefined;
    case "used":
      return `using the cluster of sluice local (${found.file})`;
    case "passed over":
      return `using ${found.inFavourOf}; for the cluster of sluice local give --kubeconfig ${found.file}`;
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
