import type { JsonObject } from "../../../../lib/core/json.ts";
import { pem } from "../../../doubles/pem.ts";
import type { Scenario, Step } from "../play-both.ts";
import type { SourceHosts } from "../source-hosts.ts";
import { bucket, secret } from "./written.ts";

const at = ({ s3 }: SourceHosts, ns: string, more: JsonObject = {}) =>
  bucket("app", { bucketName: ns, endpoint: s3, insecure: true, secretRef: { name: "keys" }, ...more });
const authority = await pem("server.crt");
const keys = secret("keys", { accesskey: "golden", secretkey: "golden-password" });

function specs(all: Readonly<Record<string, JsonObject>>): readonly Step[] {
  return Object.entries(all).map(([what, spec]) => ({ what, apply: (hosts, ns) => [at(hosts, ns, spec)] }));
}

const set =
  (files: Readonly<Record<string, string>>) =>
  ({ buckets }: SourceHosts, ns: string) =>
    void buckets.set(
      ns,
      new Map(
        Object.entries(files)
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([key, text]) => [key, Buffer.from(text)]),
      ),
    );
const files = { "a/one.yaml": "one: 1\n", "b/two.yaml": "two: 2\n", "logo.png": "png", "c d/ü+.yaml": "c\n" };

export const bucketScenarios: readonly Scenario[] = [
  {
    name: "what a bucket takes",
    steps: [
      { what: "that is missing", apply: (hosts, ns) => [keys, at(hosts, ns)] },
      { what: "that is empty", change: set({}) },
      { what: "with objects", change: set(files) },
      ...specs({
        "a prefix": { prefix: "a/" },
        "a prefix of nothing": { prefix: "none/" },
        "a prefix that is half a name": { prefix: "lo" },
        "a prefix with a slash": { prefix: "/a" },
        "an ignore rule": { ignore: "a/\n" },
        "an ignore rule that is a comment": { ignore: "# x\n" },
        "an empty ignore": { ignore: "" },
        "everything ignored": { ignore: "*\n" },
        "ignore and prefix": { prefix: "a/", ignore: "!a/one.yaml\n" },
        "a region": { region: "eu-central-1" },
        suspended: { suspend: true },
        "all again": {},
      }),
      { what: "a .sourceignore", change: set({ ...files, ".sourceignore": "b/\n" }) },
      { what: "a .sourceignore below", change: set({ ...files, "a/.sourceignore": "*\n" }) },
      {
        what: "a .sourceignore and a prefix",
        change: set({ ...files, ".sourceignore": "a/\n" }),
        apply: (hosts, ns) => [at(hosts, ns, { prefix: "a/" })],
      },
      {
        what: "folders",
        change: set({ "a/": "", "a/one.yaml": "1", "b/": "" }),
        apply: (hosts, ns) => [at(hosts, ns)],
      },
      { what: "only folders", change: set({ "a/": "" }) },
      { what: "dots", change: set({ "./a": "1", "b//c": "2" }) },
      { what: "emptied", change: set({}) },
      { what: "that is gone", change: ({ buckets }, ns) => void buckets.delete(ns) },
      { what: "deleted", remove: ["Bucket/app"] },
    ],
  },
  {
    name: "the login of a bucket",
    steps: [
      {
        what: "none",
        change: set(files),
        apply: ({ s3 }, ns) => [bucket("app", { bucketName: ns, endpoint: s3, insecure: true })],
      },
      ...Object.entries({
        "a missing Secret": undefined,
        "an empty Secret": {},
        "only an access key": { accesskey: "golden" },
        "only a secret key": { secretkey: "golden" },
        "empty keys": { accesskey: "", secretkey: "" },
        "another key": { accesskey: "other", secretkey: "other" },
        "keys of other names": { accessKey: "golden", secretKey: "golden-password" },
        "a session token": { accesskey: "golden", secretkey: "golden-password", sessiontoken: "x" },
        "the right ones": { accesskey: "golden", secretkey: "golden-password" },
      }).map(([what, data], index) => ({
        what,
        apply: (hosts: SourceHosts, ns: string) => [
          ...(data === undefined ? [] : [secret(`k${index}`, data as Record<string, string>)]),
          at(hosts, ns, { secretRef: { name: `k${index}` } }),
        ],
      })),
      { what: "provider aws with keys", apply: (hosts, ns) => [keys, at(hosts, ns, { provider: "aws" })] },
      {
        what: "provider gcp with a missing Secret",
        apply: (hosts, ns) => [at(hosts, ns, { provider: "gcp", secretRef: { name: "none" } })],
      },
      { what: "provider gcp with other keys", apply: (hosts, ns) => [at(hosts, ns, { provider: "gcp" })] },
      {
        what: "provider gcp with a service account that is none",
        apply: (hosts, ns) => [
          secret("gcp", { serviceaccount: "{}" }),
          at(hosts, ns, { provider: "gcp", secretRef: { name: "gcp" } }),
        ],
      },
      {
        what: "provider azure with a missing Secret",
        apply: (hosts, ns) => [at(hosts, ns, { provider: "azure", secretRef: { name: "none" } })],
      },
      { what: "provider azure with other keys", apply: (hosts, ns) => [at(hosts, ns, { provider: "azure" })] },
      {
        what: "provider azure with half a login",
        apply: (hosts, ns) => [
          secret("az1", { tenantId: "a", clientId: "b" }),
          at(hosts, ns, { provider: "azure", secretRef: { name: "az1" } }),
        ],
      },
      {
        what: "provider azure with an account key that is none",
        apply: (hosts, ns) => [
          secret("az2", { accountKey: "%" }),
          at(hosts, ns, { provider: "azure", secretRef: { name: "az2" } }),
        ],
      },
      { what: "provider other", apply: (hosts, ns) => [at(hosts, ns, { provider: "other" })] },
      {
        what: "sts without provider aws",
        apply: (hosts, ns) => [at(hosts, ns, { sts: { provider: "aws", endpoint: "http://127.0.0.1:1" } })],
      },
      {
        what: "sts of aws with a Secret",
        apply: (hosts, ns) => [
          at(hosts, ns, {
            provider: "aws",
            sts: { provider: "aws", endpoint: "http://127.0.0.1:1", secretRef: { name: "keys" } },
          }),
        ],
      },
      {
        what: "sts of ldap of provider aws",
        apply: (hosts, ns) => [
          at(hosts, ns, { provider: "aws", sts: { provider: "ldap", endpoint: "http://127.0.0.1:1" } }),
        ],
      },
      {
        what: "sts of gcp",
        apply: (hosts, ns) => [
          at(hosts, ns, { provider: "gcp", sts: { provider: "ldap", endpoint: "http://127.0.0.1:1" } }),
        ],
      },
      {
        what: "sts of ldap at a closed port",
        apply: ({ s3 }, ns) => [
          bucket("app", {
            bucketName: ns,
            endpoint: s3,
            insecure: true,
            sts: { provider: "ldap", endpoint: "http://127.0.0.1:1" },
          }),
        ],
      },
      {
        what: "sts of ldap with a missing Secret",
        apply: ({ s3 }, ns) => [
          bucket("app", {
            bucketName: ns,
            endpoint: s3,
            insecure: true,
            sts: { provider: "ldap", endpoint: "http://127.0.0.1:1", secretRef: { name: "none" } },
          }),
        ],
      },
      {
        what: "sts with an endpoint that is none",
        apply: ({ s3 }, ns) => [
          bucket("app", { bucketName: ns, endpoint: s3, insecure: true, sts: { provider: "ldap", endpoint: "x" } }),
        ],
      },
      { what: "a service account of generic", apply: (hosts, ns) => [at(hosts, ns, { serviceAccountName: "x" })] },
      {
        what: "a Secret and a service account",
        apply: (hosts, ns) => [at(hosts, ns, { provider: "aws", serviceAccountName: "x" })],
      },
      {
        what: "a service account of aws",
        apply: ({ s3 }, ns) => [
          bucket("app", { bucketName: ns, endpoint: s3, provider: "aws", serviceAccountName: "x" }),
        ],
      },
    ],
  },
  {
    name: "the endpoint of a bucket",
    steps: [
      {
        what: "of a closed port",
        change: set(files),
        apply: (hosts, ns) => [keys, at(hosts, ns, { endpoint: "127.0.0.1:1" })],
      },
      { what: "with a scheme", apply: (hosts, ns) => [at(hosts, ns, { endpoint: `http://${hosts.s3}` })] },
      { what: "with a path", apply: (hosts, ns) => [at(hosts, ns, { endpoint: `${hosts.s3}/path` })] },
      { what: "that is empty", apply: (hosts, ns) => [at(hosts, ns, { endpoint: "" })] },
      { what: "of an unknown host", apply: (hosts, ns) => [at(hosts, ns, { endpoint: "nowhere.invalid" })] },
      { what: "of plain HTTP without insecure", apply: (hosts, ns) => [at(hosts, ns, { insecure: false })] },
      { what: "with a bucket name that is none", apply: (hosts) => [at(hosts, "A_b")] },
      { what: "with an empty bucket name", apply: (hosts) => [at(hosts, "")] },
      { what: "with a bucket name that is short", apply: (hosts) => [at(hosts, "ab")] },
      {
        what: "a certificate that is missing",
        apply: (hosts, ns) => [at(hosts, ns, { insecure: false, certSecretRef: { name: "none" } })],
      },
      {
        what: "a certificate that is empty",
        apply: (hosts, ns) => [secret("c0", {}), at(hosts, ns, { insecure: false, certSecretRef: { name: "c0" } })],
      },
      {
        what: "an authority that is none",
        apply: (hosts, ns) => [
          secret("c1", { "ca.crt": "x" }),
          at(hosts, ns, { insecure: false, certSecretRef: { name: "c1" } }),
        ],
      },
      {
        what: "an authority with insecure",
        apply: (hosts, ns) => [secret("c2", { "ca.crt": authority }), at(hosts, ns, { certSecretRef: { name: "c2" } })],
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
      {
        what: "a proxy at a closed port",
        apply: (hosts, ns) => [
          secret("p2", { address: "http://127.0.0.1:1" }),
          at(hosts, ns, { proxySecretRef: { name: "p2" } }),
        ],
      },
      { what: "a timeout", apply: (hosts, ns) => [at(hosts, ns, { timeout: "1h" })] },
      { what: "an interval that is none", apply: (hosts, ns) => [at(hosts, ns, { interval: "often" })] },
    ],
  },
];
