import type { Part } from "../part.ts";
import { planeAnswers, planePrograms, startPlane } from "./start-plane.ts";

/** A Kubernetes control plane of plain processes; kwok plays the kubelet, so Pods become Ready and run nothing. */
export const controlPlane: Part = {
  name: "control-plane",
  installations: planePrograms,
  async start(run) {
    const files = await startPlane(run, { groups: ["sluice"], apiServerArgs: [] });
    const { sluice: kubeconfig, admin: adminKubeconfig } = files.kubeconfigOf;
    return { kubeconfig, adminKubeconfig, ...(run.audit ? { audit: files.auditLog } : {}) };
  },
  answers: async ({ adminKubeconfig }) => adminKubeconfig !== undefined && planeAnswers(adminKubeconfig),
};
