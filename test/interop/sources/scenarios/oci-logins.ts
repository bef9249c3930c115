import type { Scenario } from "../scenario.ts";
import type { SourceHosts } from "../source-hosts.ts";
import { begin } from "./the-image.ts";
import { dockerConfig, ociRepository, secret } from "./written.ts";

export const ociLogins: readonly Scenario[] = [
  {
    name: "the login of a registry",
    steps: [
      {
        what: "none",
        change: begin,
        apply: ({ closedRegistry }, place) => [
          dockerConfig("wrong", closedRegistry, "golden", "wrong"),
          dockerConfig("right", closedRegistry),
          ociRepository("app", { url: `oci://${closedRegistry}/${place}`, insecure: true }),
        ],
      },
      ...(["missing", "other", "wrong", "opaque", "empty", "right"] as const).map((which) => ({
        what: `the Secret ${which}`,
        apply: ({ closedRegistry }: SourceHosts, place: string) => [
          ...(which === "other" ? [dockerConfig(which, "example.com")] : []),
          ...(which === "opaque" ? [secret(which, { username: "golden", password: "golden-password" })] : []),
          ...(which === "empty"
            ? [secret(which, { ".dockerconfigjson": "{}" }, "kubernetes.io/dockerconfigjson")]
            : []),
          ociRepository("app", { url: `oci://${closedRegistry}/${place}`, insecure: true, secretRef: { name: which } }),
        ],
      })),
      {
        what: "a range with a wrong login",
        apply: ({ closedRegistry }, place) => [
          ociRepository("app", {
            url: `oci://${closedRegistry}/${place}`,
            insecure: true,
            secretRef: { name: "wrong" },
            ref: { semver: "1.x" },
          }),
        ],
      },
      {
        what: "a service account that is missing",
        apply: ({ closedRegistry }, place) => [
          ociRepository("app", { url: `oci://${closedRegistry}/${place}`, insecure: true, serviceAccountName: "none" }),
        ],
      },
      {
        what: "a service account",
        apply: ({ closedRegistry }, place) => [
          { kind: "ServiceAccount", name: "puller", imagePullSecrets: [{ name: "right" }] },
          ociRepository("app", {
            url: `oci://${closedRegistry}/${place}`,
            insecure: true,
            serviceAccountName: "puller",
          }),
        ],
      },
      {
        what: "a service account with a Secret that is missing",
        apply: ({ closedRegistry }, place) => [
          { kind: "ServiceAccount", name: "poor", imagePullSecrets: [{ name: "none" }] },
          ociRepository("app", { url: `oci://${closedRegistry}/${place}`, insecure: true, serviceAccountName: "poor" }),
        ],
      },
      {
        what: "provider aws of another host",
        apply: ({ registry }, place) => [ociRepository("app", { url: `oci://${registry}/${place}`, provider: "aws" })],
      },
      {
        what: "provider aws of another host, by a range",
        apply: ({ registry }, place) => [
          ociRepository("app", { url: `oci://${registry}/${place}`, provider: "aws", ref: { semver: "1.x" } }),
        ],
      },
      {
        what: "provider other",
        apply: ({ registry }, place) => [
          ociRepository("app", { url: `oci://${registry}/${place}`, provider: "other" }),
        ],
      },
    ],
  },
];
