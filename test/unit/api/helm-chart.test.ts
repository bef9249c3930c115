import { describe, expect, test } from "vitest";
import { HelmChartSpec } from "../../../lib/api/helm-chart.ts";

const spec = { chart: "app", interval: "10m", sourceRef: { kind: "HelmRepository", name: "charts" } };
const verify = { provider: "cosign" };

describe("the spec of a HelmChart", () => {
  test("has Flux's defaults", () => {
    expect(HelmChartSpec.parse(spec)).toEqual({ ...spec, version: "*", reconcileStrategy: "ChartVersion" });
  });

  test("11.4/104: spec.verify is refused unless the source is a HelmRepository", () => {
    expect(HelmChartSpec.safeParse({ ...spec, verify }).success).toBe(true);
    const message = "spec.verify is only supported when spec.sourceRef.kind is 'HelmRepository'";
    const refused = HelmChartSpec.safeParse({ ...spec, verify, sourceRef: { kind: "GitRepository", name: "repo" } });
    expect(refused.error?.issues.map((issue) => issue.message)).toEqual([message]);
    const meta = HelmChartSpec.meta()?.["x-kubernetes-validations"];
    expect(meta).toEqual([{ rule: "!has(self.verify) || self.sourceRef.kind == 'HelmRepository'", message }]);
  });
});
