import { pem } from "../../../doubles/pem.ts";
import { publish } from "../charts.ts";
import type { Scenario } from "../scenario.ts";
import { dockerConfig, helmRepository, secretSteps } from "./written.ts";

const app = { name: "app", version: "1.0.0" };

export const helmRepositories: readonly Scenario[] = [
  {
    name: "the URL of a repository",
    steps: [
      {
        what: "with a query",
        change: (hosts, place) => publish(hosts, place, [app]),
        apply: ({ http }, place) => [helmRepository("app", { url: `http://${http}/${place}?a=b` })],
      },
      {
        what: "with a login",
        apply: ({ http }, place) => [helmRepository("app", { url: `http://u:p@${http}/${place}` })],
      },
      {
        what: "with slashes",
        apply: ({ http }, place) => [helmRepository("app", { url: `http://${http}/${place}///` })],
      },
      {
        what: "with a fragment",
        apply: ({ http }, place) => [helmRepository("app", { url: `http://${http}/${place}#here` })],
      },
      { what: "without a host", apply: () => [helmRepository("app", { url: "http://" })] },
      { what: "with a bad escape", apply: ({ http }) => [helmRepository("app", { url: `http://${http}/%zz` })] },
      { what: "with a space", apply: ({ http }) => [helmRepository("app", { url: `http://${http}/a b` })] },
      { what: "of a closed port", apply: () => [helmRepository("app", { url: "http://127.0.0.1:1/charts" })] },
      { what: "of an unknown host", apply: () => [helmRepository("app", { url: "http://nowhere.invalid/charts" })] },
      {
        what: "of oci with type default",
        apply: () => [helmRepository("app", { url: "oci://127.0.0.1:1/charts", type: "default" })],
      },
      { what: "of TLS", apply: ({ https }, place) => [helmRepository("app", { url: `https://${https}/${place}` })] },
      {
        what: "of plain HTTP as TLS",
        apply: ({ http }, place) => [helmRepository("app", { url: `https://${http}/${place}` })],
      },
      {
        what: "of TLS as plain HTTP",
        apply: ({ https }, place) => [helmRepository("app", { url: `http://${https}/${place}` })],
      },
      {
        what: "that is right again",
        apply: ({ http }, place) => [helmRepository("app", { url: `http://${http}/${place}` })],
      },
      { what: "of another scheme", apply: () => [helmRepository("app", { url: "ftp://127.0.0.1/charts" })] },
    ],
  },
  {
    name: "the login of a repository",
    steps: [
      {
        what: "without a Secret",
        change: (hosts, place) => publish(hosts, `closed/${place}`, [app]),
        apply: ({ http }, place) => [helmRepository("app", { url: `http://${http}/closed/${place}` })],
      },
      ...secretSteps(
        {
          "with a missing Secret": undefined,
          "with an empty Secret": {},
          "with only a username": { username: "golden" },
          "with only a password": { password: "golden-password" },
          "with an empty password": { username: "golden", password: "" },
          "with a wrong password": { username: "golden", password: "wrong" },
          "with a token": { bearerToken: "token" },
          "with a certificate without its key": { "tls.crt": "x" },
          "with an authority that is none": { "ca.crt": "x" },
          "with an old authority that is none": { caFile: "x" },
          "with a line feed": { username: "golden", password: "golden-password\n" },
          "with other keys": { user: "golden", pass: "golden-password" },
          "with the right one": { username: "golden", password: "golden-password" },
        },
        ({ http }, place, name) =>
          helmRepository("app", { url: `http://${http}/closed/${place}`, secretRef: { name } }),
      ),
      {
        what: "of type dockerconfigjson",
        apply: ({ http }, place) => [
          dockerConfig("docker", http),
          helmRepository("app", { url: `http://${http}/closed/${place}`, secretRef: { name: "docker" } }),
        ],
      },
    ],
  },
  {
    name: "the certificates of a repository",
    steps: [
      {
        what: "of an unknown authority",
        change: (hosts, place) => publish(hosts, place, [app]),
        apply: ({ https }, place) => [helmRepository("app", { url: `https://${https}/${place}` })],
      },
      ...secretSteps(
        {
          "of a missing Secret": undefined,
          "of an empty Secret": {},
          "with another authority": { "ca.crt": await pem("amazon.crt") },
          "with the old key of the authority": { caFile: await pem("server.crt") },
          "with text in place of the authority": { "ca.crt": "text" },
          "with a certificate without its key": { "tls.crt": await pem("client.crt") },
          "with a key without its certificate": { "tls.key": await pem("client.key") },
          "with a key of another certificate": {
            "tls.crt": await pem("client.crt"),
            "tls.key": await pem("server.key"),
          },
          "with the authority": { "ca.crt": await pem("server.crt") },
        },
        ({ https }, place, name) =>
          helmRepository("app", { url: `https://${https}/${place}`, certSecretRef: { name } }),
      ),
    ],
  },
  {
    name: "type oci and back",
    isStory: true,
    steps: [
      {
        what: "type oci",
        change: (hosts, place) => publish(hosts, place, [app]),
        apply: ({ registry }) => [helmRepository("app", { url: `oci://${registry}/charts`, type: "oci" })],
      },
      {
        what: "type oci, insecure and a missing Secret",
        apply: ({ registry }) => [
          helmRepository("app", {
            url: `oci://${registry}/charts`,
            type: "oci",
            insecure: true,
            secretRef: { name: "none" },
          }),
        ],
      },
      {
        what: "type oci with an http URL",
        apply: ({ http }, place) => [helmRepository("app", { url: `http://${http}/${place}`, type: "oci" })],
      },
      { what: "no type", apply: ({ http }, place) => [helmRepository("app", { url: `http://${http}/${place}` })] },
    ],
  },
  {
    name: "suspended, resumed and to another type",
    isStory: true,
    steps: [
      {
        what: "created suspended",
        change: (hosts, place) => publish(hosts, place, [app]),
        apply: ({ http }, place) => [helmRepository("app", { url: `http://${http}/${place}`, suspend: true })],
      },
      { what: "resumed", apply: ({ http }, place) => [helmRepository("app", { url: `http://${http}/${place}` })] },
      {
        what: "suspended",
        apply: ({ http }, place) => [helmRepository("app", { url: `http://${http}/${place}`, suspend: true })],
      },
      {
        what: "suspended, to another URL",
        apply: ({ http }) => [helmRepository("app", { url: `http://${http}/none`, suspend: true })],
      },
      { what: "resumed with it", apply: ({ http }) => [helmRepository("app", { url: `http://${http}/none` })] },
      {
        what: "to oci while failing",
        apply: ({ registry }) => [helmRepository("app", { url: `oci://${registry}/charts`, type: "oci" })],
      },
    ],
  },
  {
    name: "fields of a repository that need another type",
    steps: [
      {
        what: "created suspended",
        change: (hosts, place) => publish(hosts, place, [app]),
        apply: ({ http }, place) => [helmRepository("app", { url: `http://${http}/${place}`, suspend: true })],
      },
      {
        what: "suspended to oci",
        apply: ({ registry }) => [
          helmRepository("app", { url: `oci://${registry}/charts`, type: "oci", suspend: true }),
        ],
      },
      {
        what: "provider aws without oci",
        apply: ({ http }, place) => [helmRepository("app", { url: `http://${http}/${place}`, provider: "aws" })],
      },
      {
        what: "insecure without oci",
        apply: ({ http }, place) => [helmRepository("app", { url: `http://${http}/${place}`, insecure: true })],
      },
      {
        what: "passCredentials",
        apply: ({ http }, place) => [helmRepository("app", { url: `http://${http}/${place}`, passCredentials: true })],
      },
      {
        what: "accessFrom",
        apply: ({ http }, place) => [
          helmRepository("app", { url: `http://${http}/${place}`, accessFrom: { namespaceSelectors: [] } }),
        ],
      },
      { what: "deleted", remove: ["HelmRepository/app"] },
    ],
  },
];
