import { pem } from "../../../doubles/pem.ts";
import type { Scenario } from "../scenario.ts";
import { at, begin } from "./the-image.ts";
import { ociRepository, secret, secretSteps } from "./written.ts";

const authority = await pem("server.crt");
const otherAuthority = await pem("amazon.crt");

export const ociUrls: readonly Scenario[] = [
  {
    name: "the URL of an artifact",
    steps: [
      {
        what: "with a tag",
        change: begin,
        apply: ({ registry }, place) => [ociRepository("app", { url: `oci://${registry}/${place}:latest` })],
      },
      {
        what: "with a digest",
        apply: ({ registry }, place) => [
          ociRepository("app", { url: `oci://${registry}/${place}@sha256:${"0".repeat(64)}` }),
        ],
      },
      { what: "with upper case", apply: ({ registry }) => [ociRepository("app", { url: `oci://${registry}/App` })] },
      { what: "without a repository", apply: ({ registry }) => [ociRepository("app", { url: `oci://${registry}` })] },
      {
        what: "with a slash at its end",
        apply: ({ registry }, place) => [ociRepository("app", { url: `oci://${registry}/${place}/` })],
      },
      {
        what: "with a login",
        apply: ({ registry }, place) => [ociRepository("app", { url: `oci://u:p@${registry}/${place}` })],
      },
      { what: "empty", apply: () => [ociRepository("app", { url: "oci://" })] },
      { what: "of http", apply: () => [ociRepository("app", { url: "http://127.0.0.1:1/app" })] },
      {
        what: "of a repository that is missing",
        apply: ({ registry }, place) => [ociRepository("app", { url: `oci://${registry}/${place}/none` })],
      },
      {
        what: "of a repository that is missing, by a range",
        apply: ({ registry }, place) => [
          ociRepository("app", { url: `oci://${registry}/${place}/none`, ref: { semver: "1.x" } }),
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
        apply: ({ registry }, place) => [ociRepository("app", { url: `oci://${registry}/${place}` })],
      },
      {
        what: "of TLS with insecure",
        apply: ({ secureRegistry }, place) => [
          ociRepository("app", { url: `oci://${secureRegistry}/${place}`, insecure: true }),
        ],
      },
      {
        what: "of TLS with an unknown authority",
        apply: ({ secureRegistry }, place) => [ociRepository("app", { url: `oci://${secureRegistry}/${place}` })],
      },
      ...secretSteps(
        {
          "TLS with a missing Secret": undefined,
          "TLS with an empty Secret": {},
          "TLS with an authority that is none": { "ca.crt": "x" },
          "TLS with a certificate without its key": { "tls.crt": "x" },
          "TLS with a certificate that is none": { "tls.crt": "x", "tls.key": "y" },
          "TLS with another authority": { "ca.crt": otherAuthority },
          "TLS with the authority": { "ca.crt": authority },
          "TLS with the authority under its old name": { caFile: authority },
        },
        ({ secureRegistry }, place, name) =>
          ociRepository("app", { url: `oci://${secureRegistry}/${place}`, certSecretRef: { name } }),
      ),
      {
        what: "insecure with a certificate that is missing",
        apply: ({ secureRegistry }, place) => [
          ociRepository("app", {
            url: `oci://${secureRegistry}/${place}`,
            insecure: true,
            certSecretRef: { name: "none" },
          }),
        ],
      },
      {
        what: "insecure with the authority",
        apply: ({ secureRegistry }, place) => [
          secret("c6", { "ca.crt": authority }),
          ociRepository("app", {
            url: `oci://${secureRegistry}/${place}`,
            insecure: true,
            certSecretRef: { name: "c6" },
          }),
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
    ],
  },
];
