import { describe, expect, test } from "vitest";
import { OciRepositorySpec } from "../../../lib/api/oci-repository.ts";
import { parseLive } from "../../../lib/api/parse-live.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";

const parseSpec = (object: LiveObject) => parseLive(object, "spec", OciRepositorySpec);

function live(spec: object, version = "v1"): LiveObject {
  return {
    apiVersion: `source.toolkit.fluxcd.io/${version}`,
    kind: "OCIRepository",
    metadata: { name: "app", namespace: "flux-system", uid: "u-1" },
    spec,
  };
}

describe("a live OCIRepository", () => {
  test("of v1beta2, as in the field report, is parsed with its defaults", () => {
    const spec = { interval: "5m", url: "oci://127.0.0.1:5000/oddy", ref: { tag: "v1" }, insecure: true };
    expect(parseSpec(live(spec, "v1beta2"))).toEqual({ ...spec, provider: "generic", timeout: "60s" });
  });

  test("without a provider for verification uses cosign", () => {
    expect(parseSpec(live({ interval: "5m", url: "oci://r/a", verify: {} })).verify).toEqual({
      provider: "cosign",
    });
  });

  test("11.1/28: may have a timeout in minutes, but not in hours", () => {
    const spec = { interval: "5m", url: "oci://r/a" };
    expect(parseSpec(live({ ...spec, timeout: "60m" })).timeout).toBe("60m");
    expect(() => parseSpec(live({ ...spec, timeout: "1h" }))).toThrow("spec.timeout: ");
  });

  test.each([
    ["spec.url", { url: "https://example.com/a" }],
    ["spec.interval", { interval: "soon" }],
    ["spec.provider", { provider: "docker" }],
    ["spec.layerSelector.operation", { layerSelector: { operation: "unzip" } }],
    ["spec.verify.matchOIDCIdentity[0].subject", { verify: { matchOIDCIdentity: [{ issuer: "a" }] } }],
  ])("with an invalid %s is refused, naming it", (field, spec) => {
    expect(() => parseSpec(live({ interval: "5m", url: "oci://r/a", ...spec }))).toThrow(
      `OCIRepository/flux-system/app is invalid: ${field}: `,
    );
  });
});
