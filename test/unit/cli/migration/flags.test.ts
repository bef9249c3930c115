import { describe, expect, test } from "vitest";
import type { FoundController } from "../../../../cli/migration/controllers.ts";
import { judgeFlags } from "../../../../cli/migration/flags.ts";

function controller(name: string, ...args: readonly string[]): FoundController {
  const at = { namespace: "flux-system", deployment: name, version: "v1", replicas: 1, serviceAccount: name };
  return { name, ...at, args };
}

const judged = (...args: readonly string[]) => judgeFlags([controller("kustomize-controller", ...args)]);

describe("a flag of a controller", () => {
  test.each([
    { given: ["--concurrent-ssa=12"], verdict: "setting", settings: { "concurrent-ssa": 12 } },
    { given: ["--no-cross-namespace-refs"], verdict: "setting", settings: { "no-cross-namespace-refs": true } },
    { given: ["--requeue-dependency", "5s"], verdict: "setting", settings: { "requeue-dependency": "5s" } },
    { given: ["-cluster-name=12"], verdict: "setting", settings: { "cluster-name": "12" } },
    {
      given: ["--override-manager=a", "--override-manager=b"],
      verdict: "setting",
      settings: { "override-manager": ["a", "b"] },
    },
    { given: ["--watch-all-namespaces=true"], verdict: "default", settings: {} },
    { given: ["--concurrent=20"], verdict: "noEffect", settings: {} },
    { given: ["--insecure-kubeconfig-tls=false"], verdict: "noEffect", settings: {} },
    { given: ["--insecure-kubeconfig-tls"], verdict: "refused", settings: {} },
    { given: ["--watch-label-selector=team=a"], verdict: "refused", settings: {} },
    { given: ["--watch-all-namespaces=false"], verdict: "refused", settings: {} },
    { given: ["--helm-chart-max-size=20000000"], verdict: "refused", settings: {} },
    { given: ["--of-another-release=1"], verdict: "refused", settings: {} },
    { given: ["--default-service-account=$(ACCOUNT)"], verdict: "refused", settings: {} },
    { given: ["-mesh-provider=linkerd"], verdict: "setting", settings: { "mesh-provider": "linkerd" } },
    { given: ["-mesh-provider=appmesh"], verdict: "refused", settings: {} },
    { given: ["--concurrent-ssa=100000"], verdict: "refused", settings: {} },
    {
      given: ["--max-retry-delay=1s", "--min-retry-delay=5s"],
      verdict: "refused",
      settings: { "max-retry-delay": "1s" },
    },
  ])("$given is judged as $verdict, by the code that reads settings", ({ given, settings, verdict }) => {
    const found = judged(...given);
    expect([found.flags.at(-1)?.verdict, found.settings]).toEqual([verdict, settings]);
  });

  test.each([
    ["ExternalArtifact=true", "setting", { "feature-gates": { ExternalArtifact: true } }],
    ["CancelHealthCheckOnNewRevision=true", "default", {}],
    ["CacheSecretsAndConfigMaps=true", "noEffect", {}],
    ["OOMWatch=true", "noEffect", {}],
    ["UseHelm3Defaults=false", "noEffect", {}],
    ["UseHelm3Defaults=true", "refused", {}],
    ["DetectDrift=true", "noEffect", {}],
  ])("--feature-gates=%s is judged as %s", (gate, verdict, settings) => {
    const found = judged(`--feature-gates=${gate}`);
    expect([found.flags[0]?.verdict, found.settings]).toEqual([verdict, settings]);
  });

  test.each(["AllowDNSLookups", "DefaultToRetryOnFailure", "UseHelm3Defaults"])(
    "the gate %s of helm-controller is refused, with Sluice's alternative",
    (gate) => {
      const [flag] = judged(`--feature-gates=${gate}=true`).flags;
      expect(flag).toMatchObject({ verdict: "refused" });
      expect(flag?.reason).not.toContain("is not a feature gate");
    },
  );

  test("that one controller sets also names the objects of the other controllers that it would affect", () => {
    const found = judgeFlags([
      controller("kustomize-controller", "--default-service-account=deploys"),
      controller("helm-controller"),
    ]);
    expect(found.flags[0]?.reason).toBe("with Sluice it also holds for the objects of helm-controller");
    expect(found.defaultServiceAccount).toBe("deploys");
  });

  test("that has another value in another controller is refused, since Sluice has one for all", () => {
    const found = judgeFlags([
      controller("kustomize-controller", "--default-service-account=deploys"),
      controller("helm-controller", "--default-service-account=helm"),
    ]);
    expect(found.flags).toMatchObject([
      { verdict: "refused", controllers: ["helm-controller", "kustomize-controller"] },
    ]);
    expect(found.settings).toEqual({});
  });

  test.each([
    "-slack-token=xoxb-1",
    "-slack-url=https://hooks.example.com/T0/B0/xoxb-1",
    "-metrics-server=http://me:xoxb-1@prom",
  ])("%s may be a secret, so its value is nowhere in the result", (flag) => {
    const found = judgeFlags([controller("flagger", flag)]);
    expect(found.flags).toMatchObject([{ verdict: "setting" }]);
    expect(JSON.stringify(found)).not.toContain("xoxb-1");
  });
});
