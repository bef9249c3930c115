import type { Part } from "../part.ts";
import { gatewayApi } from "./gateway-api.ts";
import { planeAnswers, planePrograms, startPlane } from "./start-plane.ts";

/** A Kubernetes control plane of plain processes; kwok plays the kubelet, so Pods become Ready and run nothing. */
export const controlPlane: Part = {
  name: "control-plane",
  installations: [...planePrograms, gatewayApi],
  async start(run) {
    const options = { groups: ["sluice"], apiServerArgs: apiServerArgs(process.env), hasGatewayApi: true };
    const files = await startPlane(run, options);
    const { sluice: kubeconfig, admin: adminKubeconfig } = files.kubeconfigOf;
    const definitions = run.installed(gatewayApi.program);
    return { kubeconfig, adminKubeconfig, gatewayApi: definitions, ...(run.audit ? { audit: files.auditLog } : {}) };
  },
  answers: async ({ adminKubeconfig }) => adminKubeconfig !== undefined && planeAnswers(adminKubeconfig),
};

/** For a control plane of another kind than usual, as `ownControlPlane` starts it: arguments with a space between them. */
function apiServerArgs({ SLUICE_REAL_API_SERVER_ARGS: text = "" }: NodeJS.ProcessEnv): readonly string[] {
  return text.split(" ").filter((argument) => argument !== "");
}
