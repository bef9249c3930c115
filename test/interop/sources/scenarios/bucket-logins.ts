import { pem } from "../../../doubles/pem.ts";
import type { Scenario } from "../scenario.ts";
import { at, files, keys, put } from "./the-bucket.ts";
import { bucket, secret, secretSteps } from "./written.ts";

const authority = await pem("server.crt");

export const bucketLogins: readonly Scenario[] = [
  {
    name: "the login of a bucket",
    steps: [
      {
        what: "none",
        change: put(files),
        apply: ({ s3 }, place) => [keys, bucket("app", { bucketName: place, endpoint: s3, insecure: true })],
      },
      ...secretSteps(
        {
          "a missing Secret": undefined,
          "an empty Secret": {},
          "only an access key": { accesskey: "golden" },
          "only a secret key": { secretkey: "golden" },
          "empty keys": { accesskey: "", secretkey: "" },
          "another key": { accesskey: "other", secretkey: "other" },
          "keys of other names": { accessKey: "golden", secretKey: "golden-password" },
          "a session token": { accesskey: "golden", secretkey: "golden-password", sessiontoken: "x" },
          "the right ones": { accesskey: "golden", secretkey: "golden-password" },
        },
        (hosts, place, name) => at(hosts, place, { secretRef: { name } }),
      ),
      { what: "provider aws with keys", apply: (hosts, place) => [at(hosts, place, { provider: "aws" })] },
      {
        what: "provider gcp with a missing Secret",
        apply: (hosts, place) => [at(hosts, place, { provider: "gcp", secretRef: { name: "none" } })],
      },
      { what: "provider gcp with other keys", apply: (hosts, place) => [at(hosts, place, { provider: "gcp" })] },
      {
        what: "provider gcp with a service account that is none",
        apply: (hosts, place) => [
          secret("gcp", { serviceaccount: "{}" }),
          at(hosts, place, { provider: "gcp", secretRef: { name: "gcp" } }),
        ],
      },
      {
        what: "provider azure with a missing Secret",
        apply: (hosts, place) => [at(hosts, place, { provider: "azure", secretRef: { name: "none" } })],
      },
      { what: "provider azure with other keys", apply: (hosts, place) => [at(hosts, place, { provider: "azure" })] },
      {
        what: "provider azure with half a login",
        apply: (hosts, place) => [
          secret("az1", { tenantId: "a", clientId: "b" }),
          at(hosts, place, { provider: "azure", secretRef: { name: "az1" } }),
        ],
      },
      {
        what: "provider azure with an account key that is none",
        apply: (hosts, place) => [
          secret("az2", { accountKey: "%" }),
          at(hosts, place, { provider: "azure", secretRef: { name: "az2" } }),
        ],
      },
      { what: "provider other", apply: (hosts, place) => [at(hosts, place, { provider: "other" })] },
      {
        what: "sts without provider aws",
        apply: (hosts, place) => [at(hosts, place, { sts: { provider: "aws", endpoint: "http://127.0.0.1:1" } })],
      },
      {
        what: "sts of aws with a Secret",
        apply: (hosts, place) => [
          at(hosts, place, {
            provider: "aws",
            sts: { provider: "aws", endpoint: "http://127.0.0.1:1", secretRef: { name: "keys" } },
          }),
        ],
      },
      {
        what: "sts of ldap of provider aws",
        apply: (hosts, place) => [
          at(hosts, place, { provider: "aws", sts: { provider: "ldap", endpoint: "http://127.0.0.1:1" } }),
        ],
      },
      {
        what: "sts of gcp",
        apply: (hosts, place) => [
          at(hosts, place, { provider: "gcp", sts: { provider: "ldap", endpoint: "http://127.0.0.1:1" } }),
        ],
      },
      {
        what: "sts of ldap at a closed port",
        apply: ({ s3 }, place) => [
          bucket("app", {
            bucketName: place,
            endpoint: s3,
            insecure: true,
            sts: { provider: "ldap", endpoint: "http://127.0.0.1:1" },
          }),
        ],
      },
      {
        what: "sts of ldap with a missing Secret",
        apply: ({ s3 }, place) => [
          bucket("app", {
            bucketName: place,
            endpoint: s3,
            insecure: true,
            sts: { provider: "ldap", endpoint: "http://127.0.0.1:1", secretRef: { name: "none" } },
          }),
        ],
      },
      {
        what: "sts with an endpoint that is none",
        apply: ({ s3 }, place) => [
          bucket("app", { bucketName: place, endpoint: s3, insecure: true, sts: { provider: "ldap", endpoint: "x" } }),
        ],
      },
      {
        what: "a service account of generic",
        apply: (hosts, place) => [at(hosts, place, { serviceAccountName: "x" })],
      },
      {
        what: "a Secret and a service account",
        apply: (hosts, place) => [at(hosts, place, { provider: "aws", serviceAccountName: "x" })],
      },
      {
        what: "a service account of aws",
        apply: ({ s3 }, place) => [
          bucket("app", { bucketName: place, endpoint: s3, provider: "aws", serviceAccountName: "x" }),
        ],
      },
    ],
  },
  {
    name: "the endpoint of a bucket",
    steps: [
      {
        what: "of a closed port",
        change: put(files),
        apply: (hosts, place) => [keys, at(hosts, place, { endpoint: "127.0.0.1:1" })],
      },
      { what: "with a scheme", apply: (hosts, place) => [at(hosts, place, { endpoint: `http://${hosts.s3}` })] },
      { what: "with a path", apply: (hosts, place) => [at(hosts, place, { endpoint: `${hosts.s3}/path` })] },
      { what: "that is empty", apply: (hosts, place) => [at(hosts, place, { endpoint: "" })] },
      { what: "of an unknown host", apply: (hosts, place) => [at(hosts, place, { endpoint: "nowhere.invalid" })] },
      { what: "of plain HTTP without insecure", apply: (hosts, place) => [at(hosts, place, { insecure: false })] },
      { what: "with a bucket name that is none", apply: (hosts) => [at(hosts, "A_b")] },
      { what: "with an empty bucket name", apply: (hosts) => [at(hosts, "")] },
      { what: "with a bucket name that is short", apply: (hosts) => [at(hosts, "ab")] },
      {
        what: "a certificate that is missing",
        apply: (hosts, place) => [at(hosts, place, { insecure: false, certSecretRef: { name: "none" } })],
      },
      {
        what: "a certificate that is empty",
        apply: (hosts, place) => [
          secret("c0", {}),
          at(hosts, place, { insecure: false, certSecretRef: { name: "c0" } }),
        ],
      },
      {
        what: "an authority that is none",
        apply: (hosts, place) => [
          secret("c1", { "ca.crt": "x" }),
          at(hosts, place, { insecure: false, certSecretRef: { name: "c1" } }),
        ],
      },
      {
        what: "an authority with insecure",
        apply: (hosts, place) => [
          secret("c2", { "ca.crt": authority }),
          at(hosts, place, { certSecretRef: { name: "c2" } }),
        ],
      },
      {
        what: "a proxy that is missing",
        apply: (hosts, place) => [at(hosts, place, { proxySecretRef: { name: "none" } })],
      },
      {
        what: "a proxy without an address",
        apply: (hosts, place) => [secret("p0", {}), at(hosts, place, { proxySecretRef: { name: "p0" } })],
      },
      {
        what: "a proxy of another scheme",
        apply: (hosts, place) => [
          secret("p1", { address: "ftp://127.0.0.1:1" }),
          at(hosts, place, { proxySecretRef: { name: "p1" } }),
        ],
      },
      {
        what: "a proxy at a closed port",
        apply: (hosts, place) => [
          secret("p2", { address: "http://127.0.0.1:1" }),
          at(hosts, place, { proxySecretRef: { name: "p2" } }),
        ],
      },
      { what: "a timeout", apply: (hosts, place) => [at(hosts, place, { timeout: "1h" })] },
      { what: "an interval that is none", apply: (hosts, place) => [at(hosts, place, { interval: "often" })] },
    ],
  },
];
