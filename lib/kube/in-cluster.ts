import { join } from "node:path";
import { messageOf } from "../core/failure.ts";
import type { ClusterConfig } from "./cluster-config.ts";
import { readLimitedFile } from "./read-limited-file.ts";

export const maxInClusterFileBytes = 1024 * 1024;
const serviceAccountDir = "/var/run/secrets/kubernetes.io/serviceaccount";

/** The cluster of the pod that we run in, with its service account; undefined outside of a pod. */
export function inClusterConfig(
  env: Readonly<Record<string, string | undefined>>,
  dir = serviceAccountDir,
): Promise<ClusterConfig> | undefined {
  const host = env["KUBERNETES_SERVICE_HOST"];
  const port = env["KUBERNETES_SERVICE_PORT"];
  if (host === undefined || host === "" || port === undefined || port === "") return undefined;
  return readServiceAccount(host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`, dir);
}

async function readServiceAccount(address: string, dir: string): Promise<ClusterConfig> {
  const [ca, namespace] = await Promise.all(["ca.crt", "namespace"].map((name) => readText(join(dir, name))));
  return {
    name: "in-cluster",
    server: new URL(`https://${address}`),
    namespace: namespace?.trim(),
    tls: { ca, serverName: undefined, insecure: false },
    proxy: undefined,
    user: {
      name: "service account",
      certificate: undefined,
      token: { kind: "file", path: join(dir, "token") },
      impersonate: undefined,
    },
  };
}

async function readText(path: string): Promise<string> {
  try {
    return await readLimitedFile(path, maxInClusterFileBytes);
  } catch (error) {
    const mend = "mount a service account token into the pod, or give --kubeconfig FILE";
    throw new Error(`no kubeconfig, and the pod's service account cannot be read: ${messageOf(error)}; ${mend}`, {
      cause: error,
    });
  }
}
