import { sourceGroup } from "../../api/names.ts";
import type { HelmReleaseContext } from "./attempt/context.ts";

const labelPrefix = "helm.toolkit.fluxcd.io";

/**
 * Deletes the HelmChart that was made from `spec.chart`, as `status.helmChart` names it, and takes its name out of the status. A
 * chart without this HelmRelease's label stays: anyone may write a status.
 *
 * @throws ApiError
 */
export async function deleteGeneratedChart(ctx: HelmReleaseContext): Promise<void> {
  const { home, name: ownName, namespace: ownNamespace, run } = ctx;
  const { helmChart = "", ...status } = ctx.status();
  const [namespace = "", name = ""] = helmChart.split("/");
  if (namespace === "" || name === "") return;
  const ref = { group: sourceGroup, version: "v1", kind: "HelmChart", namespace, name };
  const live = await home.get(ref, run.signal);
  const labels = live?.metadata.labels ?? {};
  const isOwn = labels[`${labelPrefix}/name`] === ownName && labels[`${labelPrefix}/namespace`] === ownNamespace;
  if (live !== undefined && isOwn) {
    await home.delete(ref, { propagation: "Background", uid: live.metadata.uid }, run.signal);
    const message = `deleted HelmChart '${helmChart}'`;
    ctx.record({ type: "Normal", reason: "HelmChartDeleted", message, annotations: {}, isTrace: true });
  }
  await ctx.write(status);
}
