import { gunzipSync } from "node:zlib";
import { generateKeyPairSync } from "node:crypto";
import type { JsonObject } from "../../../../lib/core/json.ts";
import { signSimply } from "../../../doubles/cosign-signatures.ts";
import { pem } from "../../../doubles/pem.ts";
import { chartArchive } from "../charts.ts";
import { clientOf, fluxLayer, push } from "../images.ts";
import type { Scenario, Step } from "../play-both.ts";
import type { SourceHosts } from "../source-hosts.ts";
import { dockerConfig, ociRepository, secret } from "./written.ts";

const at = ({ registry }: SourceHosts, ns: string, more: JsonObject = {}) =>
  ociRepository("app", { url: `oci://${registry}/${ns}`, insecure: true, ...more });

function specs(all: Readonly<Record<string, JsonObject>>): readonly Step[] {
  return Object.entries(all).map(([what, spec]) => ({ what, apply: (hosts, ns) => [at(hosts, ns, spec)] }));
}

const files = { "a/one.yaml": "one: 1\n", "b.yaml": "b: 1\n", "image.png": "png" };
const annotations = {
  "org.opencontainers.image.source": "https://example.test/repo",
  "org.opencontainers.image.revision": "main@sha1:0123",
};
const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
const others = generateKeyPairSync("ec", { namedCurve: "P-256" });
const pub = (pair: typeof keys) => String(pair.publicKey.export({ type: "spki", format: "pem" }));
const authority = await pem("server.crt");
const otherAuthority = await pem("amazon.crt");

async function begin({ registry }: SourceHosts, ns: string): Promise<void> {
  for (const tag of ["latest", "1.0.0", "v1.1.0", "2.0.0-rc.1", "1.2", "prod-1.5.0", "2.0.0_b"]) {
    await push(registry, ns, tag, { layers: [await fluxLayer({ ...files, tag })], annotations });
  }
}

export const ociRepositories: readonly Scenario[] = [
  {
    name: "the reference of an artifact",
    steps: [
      { what: "none", change: begin, apply: (hosts, ns) => [at(hosts, ns)] },
      ...specs({
        "an empty one": { ref: {} },
        "a tag": { ref: { tag: "1.0.0" } },
        "a tag that is missing": { ref: { tag: "none" } },
        "a tag that is none": { ref: { tag: "a b" } },
        "an empty tag": { ref: { tag: "" } },
        "a range": { ref: { semver: "1.x" } },
        any: { ref: { semver: "*" } },
        "a range with pre-releases": { ref: { semver: ">=1.0.0-0" } },
        "a range with a filter": { ref: { semver: ">=1.0.0-0", semverFilter: ".*-rc.*" } },
        "a filter that is none": { ref: { semver: "1.x", semverFilter: "(" } },
        "a filter of nothing": { ref: { semver: "1.x", semverFilter: "^none$" } },
        "a filter of other tags": { ref: { semver: "1.x", semverFilter: "prod-" } },
        "a filter without a range": { ref: { semverFilter: "1.*" } },
        "a range without a match": { ref: { semver: "9.x" } },
        "a range that is none": { ref: { semver: "latest" } },
        "a digest that is missing": { ref: { digest: `sha256:${"0".repeat(64)}` } },
        "a digest that is short": { ref: { digest: "sha256:0123" } },
        "a digest that is none": { ref: { digest: "latest" } },
        "a tag and a range": { ref: { tag: "latest", semver: "1.0.0" } },
        suspended: { suspend: true, ref: { tag: "1.0.0" } },
        resumed: { ref: { tag: "1.0.0" } },
      }),
      {
        what: "the tag is moved",
        change: async ({ registry }, ns) =>
          void (await push(registry, ns, "1.0.0", { layers: [await fluxLayer({ new: "x\n" })] })),
      },
      {
        what: "only one annotation",
        change: async ({ registry }, ns) =>
          void (await push(registry, ns, "1.0.0", {
            layers: [await fluxLayer({ new: "y\n" })],
            annotations: { "org.opencontainers.image.source": "https://example.test/repo" },
          })),
      },
      {
        what: "equal content under another digest",
        change: async ({ registry }, ns) =>
          void (await push(registry, ns, "1.0.0", {
            layers: [await fluxLayer({ new: "y\n" })],
            annotations: { other: "z" },
          })),
      },
      { what: "deleted", remove: ["OCIRepository/app"] },
    ],
  },
  {
    name: "the URL of an artifact",
    steps: [
      {
        what: "with a tag",
        change: begin,
        apply: ({ registry }, ns) => [ociRepository("app", { url: `oci://${registry}/${ns}:latest` })],
      },
      {
        what: "with a digest",
        apply: ({ registry }, ns) => [
          ociRepository("app", { url: `oci://${registry}/${ns}@sha256:${"0".repeat(64)}` }),
        ],
      },
      { what: "with upper case", apply: ({ registry }) => [ociRepository("app", { url: `oci://${registry}/App` })] },
      { what: "without a repository", apply: ({ registry }) => [ociRepository("app", { url: `oci://${registry}` })] },
      {
        what: "with a slash at its end",
        apply: ({ registry }, ns) => [ociRepository("app", { url: `oci://${registry}/${ns}/` })],
      },
      {
        what: "with a login",
        apply: ({ registry }, ns) => [ociRepository("app", { url: `oci://u:p@${registry}/${ns}` })],
      },
      { what: "empty", apply: () => [ociRepository("app", { url: "oci://" })] },
      { what: "of http", apply: () => [ociRepository("app", { url: "http://127.0.0.1:1/app" })] },
      {
        what: "of a repository that is missing",
        apply: ({ registry }, ns) => [ociRepository("app", { url: `oci://${registry}/${ns}/none` })],
      },
      {
        what: "of a repository that is missing, by a range",
        apply: ({ registry }, ns) => [
          ociRepository("app", { url: `oci://${registry}/${ns}/none`, ref: { semver: "1.x" } }),
        ],
      },
      {
        what: "of a closed port",
        apply: () => [ociRepository("app", { url: "oci://127.0.0.1:1/app", insecure: true })],
      },
      {
        what: "of a closed port, by a range",
        apply: () => [ociRepository("app", { url: "oci://127.0.0.1:1/app", insecure: true, ref: { semver: "1.x" } })],
      },
      { what: "of an unknown host", apply: () => [ociRepository("app", { url: "oci://nowhere.invalid/app" })] },
      {
        what: "of plain HTTP without insecure",
        apply: ({ registry }, ns) => [ociRepository("app", { url: `oci://${registry}/${ns}` })],
      },
      {
        what: "of TLS with insecure",
        apply: ({ secureRegistry }, ns) => [
          ociRepository("app", { url: `oci://${secureRegistry}/${ns}`, insecure: true }),
        ],
      },
      {
        what: "of TLS with an unknown authority",
        apply: ({ secureRegistry }, ns) => [ociRepository("app", { url: `oci://${secureRegistry}/${ns}` })],
      },
      ...Object.entries({
        "a missing Secret": undefined,
        "an empty Secret": {},
        "an authority that is none": { "ca.crt": "x" },
        "a certificate without its key": { "tls.crt": "x" },
        "a certificate that is none": { "tls.crt": "x", "tls.key": "y" },
        "another authority": { "ca.crt": otherAuthority },
        "the authority": { "ca.crt": authority },
        "the authority under its old name": { caFile: authority },
      }).map(([what, data], index) => ({
        what: `TLS with ${what}`,
        apply: ({ secureRegistry }: SourceHosts, ns: string) => [
          ...(data === undefined ? [] : [secret(`c${index}`, data as Record<string, string>)]),
          ociRepository("app", { url: `oci://${secureRegistry}/${ns}`, certSecretRef: { name: `c${index}` } }),
        ],
      })),
      {
        what: "insecure with a certificate that is missing",
        apply: ({ secureRegistry }, ns) => [
          ociRepository("app", {
            url: `oci://${secureRegistry}/${ns}`,
            insecure: true,
            certSecretRef: { name: "none" },
          }),
        ],
      },
      {
        what: "insecure with the authority",
        apply: ({ secureRegistry }, ns) => [
          ociRepository("app", { url: `oci://${secureRegistry}/${ns}`, insecure: true, certSecretRef: { name: "c6" } }),
        ],
      },
      { what: "a proxy that is missing", apply: (hosts, ns) => [at(hosts, ns, { proxySecretRef: { name: "none" } })] },
      {
        what: "a proxy without an address",
        apply: (hosts, ns) => [secret("p0", {}), at(hosts, ns, { proxySecretRef: { name: "p0" } })],
      },
      {
        what: "a proxy of another scheme",
        apply: (hosts, ns) => [
          secret("p1", { address: "ftp://127.0.0.1:1" }),
          at(hosts, ns, { proxySecretRef: { name: "p1" } }),
        ],
      },
    ],
  },
  {
    name: "the login of a registry",
    steps: [
      {
        what: "none",
        change: begin,
        apply: ({ closedRegistry }, ns) => [
          ociRepository("app", { url: `oci://${closedRegistry}/${ns}`, insecure: true }),
        ],
      },
      ...(["none", "other", "wrong", "opaque", "empty", "right"] as const).map((which) => ({
        what: `${which}`,
        apply: ({ closedRegistry }: SourceHosts, ns: string) => [
          ...(which === "other" ? [dockerConfig(which, "example.com")] : []),
          ...(which === "wrong" ? [dockerConfig(which, closedRegistry, "golden", "wrong")] : []),
          ...(which === "right" ? [dockerConfig(which, closedRegistry)] : []),
          ...(which === "opaque" ? [secret(which, { username: "golden", password: "golden-password" })] : []),
          ...(which === "empty"
            ? [secret(which, { ".dockerconfigjson": "{}" }, "kubernetes.io/dockerconfigjson")]
            : []),
          ociRepository("app", { url: `oci://${closedRegistry}/${ns}`, insecure: true, secretRef: { name: which } }),
        ],
      })),
      {
        what: "a range with a wrong login",
        apply: ({ closedRegistry }, ns) => [
          ociRepository("app", {
            url: `oci://${closedRegistry}/${ns}`,
            insecure: true,
            secretRef: { name: "wrong" },
            ref: { semver: "1.x" },
          }),
        ],
      },
      {
        what: "a service account that is missing",
        apply: ({ closedRegistry }, ns) => [
          ociRepository("app", { url: `oci://${closedRegistry}/${ns}`, insecure: true, serviceAccountName: "none" }),
        ],
      },
      {
        what: "a service account",
        apply: ({ closedRegistry }, ns) => [
          { kind: "ServiceAccount", name: "puller", imagePullSecrets: [{ name: "right" }] },
          ociRepository("app", { url: `oci://${closedRegistry}/${ns}`, insecure: true, serviceAccountName: "puller" }),
        ],
      },
      {
        what: "a service account with a Secret that is missing",
        apply: ({ closedRegistry }, ns) => [
          { kind: "ServiceAccount", name: "poor", imagePullSecrets: [{ name: "none" }] },
          ociRepository("app", { url: `oci://${closedRegistry}/${ns}`, insecure: true, serviceAccountName: "poor" }),
        ],
      },
      {
        what: "provider aws of another host",
        apply: ({ registry }, ns) => [ociRepository("app", { url: `oci://${registry}/${ns}`, provider: "aws" })],
      },
      {
        what: "provider aws of another host, by a range",
        apply: ({ registry }, ns) => [
          ociRepository("app", { url: `oci://${registry}/${ns}`, provider: "aws", ref: { semver: "1.x" } }),
        ],
      },
      {
        what: "provider other",
        apply: ({ registry }, ns) => [ociRepository("app", { url: `oci://${registry}/${ns}`, provider: "other" })],
      },
    ],
  },
  {
    name: "the layers of an artifact",
    steps: [
      {
        what: "a chart",
        change: async ({ registry }, ns) => {
          const chart = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
          const bytes = await chartArchive("app", "1.0.0");
          await push(registry, ns, "chart", {
            layers: [{ mediaType: chart, bytes }],
            config: "application/vnd.cncf.helm.config.v1+json",
          });
          await push(registry, ns, "none", { layers: [] });
          await push(registry, ns, "text", { layers: [{ mediaType: "text/plain", bytes: Buffer.from("hello\n") }] });
          await push(registry, ns, "tar", { layers: [{ mediaType: "application/x-tar", bytes: gunzipSync(bytes) }] });
          await push(registry, ns, "empty", { layers: [{ mediaType: "text/plain", bytes: Buffer.from("") }] });
          await push(registry, ns, "two", { layers: [await fluxLayer({ one: "1\n" }), { mediaType: chart, bytes }] });
          await push(registry, ns, "bad", { layers: [await fluxLayer({ "../x": "1\n" })] });
          await push(registry, ns, "absolute", { layers: [await fluxLayer({ "/etc/x": "1\n" })] });
          await push(registry, ns, "cut", { layers: [{ mediaType: "a/b", bytes: bytes.subarray(0, 100) }] });
          await push(registry, ns, "nofiles", { layers: [await fluxLayer({})] });
          await push(registry, ns, "ignored", {
            layers: [await fluxLayer({ ".sourceignore": "one\n", one: "1", two: "2", "x.png": "p" })],
          });
        },
        apply: (hosts, ns) => [at(hosts, ns, { ref: { tag: "chart" } })],
      },
      ...specs({
        copied: {
          ref: { tag: "chart" },
          layerSelector: { mediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip", operation: "copy" },
        },
        "copied with ignore": {
          ref: { tag: "chart" },
          ignore: "*",
          layerSelector: { mediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip", operation: "copy" },
        },
        "extracted by type": {
          ref: { tag: "two" },
          layerSelector: { mediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip", operation: "extract" },
        },
        "another type": { ref: { tag: "chart" }, layerSelector: { mediaType: "a/b" } },
        "an empty selector": { ref: { tag: "two" }, layerSelector: {} },
        "copied without a type": { ref: { tag: "two" }, layerSelector: { operation: "copy" } },
        "no layers": { ref: { tag: "none" } },
        text: { ref: { tag: "text" } },
        "text copied": { ref: { tag: "text" }, layerSelector: { operation: "copy" } },
        tar: { ref: { tag: "tar" } },
        "an empty layer": { ref: { tag: "empty" } },
        "an empty layer copied": { ref: { tag: "empty" }, layerSelector: { operation: "copy" } },
        "a bad name": { ref: { tag: "bad" } },
        "an absolute name": { ref: { tag: "absolute" } },
        "cut off": { ref: { tag: "cut" } },
        "no files": { ref: { tag: "nofiles" } },
        "a .sourceignore": { ref: { tag: "ignored" } },
        "ignore and a .sourceignore": { ref: { tag: "ignored" }, ignore: "two\n" },
        "everything ignored": { ref: { tag: "ignored" }, ignore: "*\n" },
        "ignored no more": { ref: { tag: "ignored" } },
      }),
    ],
  },
  {
    name: "the signature of an artifact",
    steps: [
      {
        what: "a missing Secret",
        change: async ({ registry }, ns) => {
          const signed = await push(registry, ns, "signed", { layers: [await fluxLayer(files)] });
          await signSimply({ client: clientOf(registry), repository: ns, digest: signed }, keys.privateKey);
          const twice = await push(registry, ns, "twice", { layers: [await fluxLayer({ twice: "x" })] });
          await signSimply(
            { client: clientOf(registry), repository: ns, digest: twice },
            others.privateKey,
            keys.privateKey,
          );
          await push(registry, ns, "unsigned", { layers: [await fluxLayer({ unsigned: "x" })] });
        },
        apply: (hosts, ns) => [
          at(hosts, ns, { ref: { tag: "signed" }, verify: { provider: "cosign", secretRef: { name: "none" } } }),
        ],
      },
      {
        what: "an empty Secret",
        apply: (hosts, ns) => [
          secret("k", {}),
          at(hosts, ns, { ref: { tag: "signed" }, verify: { provider: "cosign", secretRef: { name: "k" } } }),
        ],
      },
      { what: "a key without .pub", apply: () => [secret("k", { cosign: pub(keys) })] },
      { what: "a key that is none", apply: () => [secret("k", { "cosign.pub": "x" })] },
      { what: "another key", apply: () => [secret("k", { "cosign.pub": pub(others) })] },
      { what: "both keys", apply: () => [secret("k", { "a.pub": pub(others), "b.pub": pub(keys) })] },
      {
        what: "a key that is none beside the right one",
        apply: (hosts, ns) => [
          secret("k3", { "a.pub": "x", "b.pub": pub(keys) }),
          at(hosts, ns, { ref: { tag: "signed" }, verify: { provider: "cosign", secretRef: { name: "k3" } } }),
        ],
      },
      {
        what: "two signatures of which one is good",
        apply: (hosts, ns) => [
          secret("k2", { "a.pub": pub(keys) }),
          at(hosts, ns, { ref: { tag: "twice" }, verify: { provider: "cosign", secretRef: { name: "k2" } } }),
        ],
      },
      {
        what: "not signed",
        apply: (hosts, ns) => [
          at(hosts, ns, { ref: { tag: "unsigned" }, verify: { provider: "cosign", secretRef: { name: "k2" } } }),
        ],
      },
      { what: "verified no more", apply: (hosts, ns) => [at(hosts, ns, { ref: { tag: "unsigned" } })] },
      {
        what: "verified again",
        apply: (hosts, ns) => [
          at(hosts, ns, { ref: { tag: "unsigned" }, verify: { provider: "cosign", secretRef: { name: "k2" } } }),
        ],
      },
      {
        what: "notation without a Secret",
        apply: (hosts, ns) => [at(hosts, ns, { ref: { tag: "signed" }, verify: { provider: "notation" } })],
      },
      {
        what: "notation with a missing Secret",
        apply: (hosts, ns) => [
          at(hosts, ns, { ref: { tag: "signed" }, verify: { provider: "notation", secretRef: { name: "none" } } }),
        ],
      },
      {
        what: "notation without a policy",
        apply: (hosts, ns) => [
          at(hosts, ns, { ref: { tag: "signed" }, verify: { provider: "notation", secretRef: { name: "k2" } } }),
        ],
      },
      { what: "notation with a policy that is none", apply: () => [secret("k2", { "trustpolicy.json": "{" })] },
      { what: "notation with an empty policy", apply: () => [secret("k2", { "trustpolicy.json": "{}" })] },
      {
        what: "notation with a policy of no statements",
        apply: () => [
          secret("k2", { "trustpolicy.json": '{"version":"1.0","trustPolicies":[]}', "ca.crt": authority }),
        ],
      },
      {
        what: "notation with a policy and no signature",
        apply: () => [
          secret("k2", {
            "trustpolicy.json": JSON.stringify({
              version: "1.0",
              trustPolicies: [
                {
                  name: "all",
                  registryScopes: ["*"],
                  signatureVerification: { level: "strict" },
                  trustStores: ["ca:all"],
                  trustedIdentities: ["*"],
                },
              ],
            }),
            "ca.crt": authority,
          }),
        ],
      },
      {
        what: "notation that skips",
        apply: () => [
          secret("k2", {
            "trustpolicy.json": JSON.stringify({
              version: "1.0",
              trustPolicies: [{ name: "all", registryScopes: ["*"], signatureVerification: { level: "skip" } }],
            }),
            "ca.crt": authority,
          }),
        ],
      },
      {
        what: "another provider",
        apply: (hosts, ns) => [at(hosts, ns, { ref: { tag: "signed" }, verify: { provider: "other" } })],
      },
      {
        what: "a trust root that is missing",
        apply: (hosts, ns) => [
          at(hosts, ns, {
            ref: { tag: "signed" },
            verify: { provider: "cosign", trustedRootSecretRef: { name: "none" } },
          }),
        ],
      },
      {
        what: "a trust root without its key",
        apply: (hosts, ns) => [
          secret("root", {}),
          at(hosts, ns, {
            ref: { tag: "signed" },
            verify: { provider: "cosign", trustedRootSecretRef: { name: "root" } },
          }),
        ],
      },
      { what: "a trust root that is none", apply: () => [secret("root", { "trusted_root.json": "{}" })] },
    ],
  },
];
