import type { Scenario } from "../scenario.ts";
import { at, begin, main } from "./the-repository.ts";
import { login, secret, secretSteps } from "./written.ts";

export const gitLogins: readonly Scenario[] = [
  {
    name: "the login of a git repository",
    steps: [
      {
        what: "none",
        change: async (hosts, place) => begin(hosts, `closed-${place}`),
        apply: (hosts, place) => [at(hosts, `closed-${place}`, main)],
      },
      ...secretSteps(
        {
          "a missing Secret": undefined,
          "an empty Secret": {},
          "only a username": { username: "golden" },
          "only a password": { password: "golden-password" },
          "an empty username": { username: "", password: "golden-password" },
          "a wrong password": { username: "golden", password: "wrong" },
          "a bearer token": { bearerToken: "token" },
          "a bearer token and a login": { bearerToken: "token", username: "golden", password: "golden-password" },
          "an ssh key": { identity: "x", known_hosts: "y" },
          "an authority that is none": { username: "golden", password: "golden-password", "ca.crt": "x" },
          "a certificate without its key": { username: "golden", password: "golden-password", "tls.crt": "x" },
          "a GitHub App": { githubAppID: "1", githubAppInstallationID: "2", githubAppPrivateKey: "x" },
          "a line feed": { username: "golden", password: "golden-password\n" },
          "the right one": { username: "golden", password: "golden-password" },
        },
        (hosts, place, name) => at(hosts, `closed-${place}`, { ...main, secretRef: { name } }),
      ),
      {
        what: "provider github without a Secret",
        apply: (hosts, place) => [at(hosts, `closed-${place}`, { ...main, provider: "github" })],
      },
      {
        what: "provider github with a login",
        apply: (hosts, place) => [
          login("login"),
          at(hosts, `closed-${place}`, { ...main, provider: "github", secretRef: { name: "login" } }),
        ],
      },
      {
        what: "provider github with half an App",
        apply: (hosts, place) => [
          secret("half", { githubAppID: "1", githubAppPrivateKey: "x" }),
          at(hosts, `closed-${place}`, { ...main, provider: "github", secretRef: { name: "half" } }),
        ],
      },
      {
        what: "provider github with a key that is none",
        apply: (hosts, place) => [
          secret("badkey", { githubAppID: "1", githubAppInstallationID: "2", githubAppPrivateKey: "x" }),
          at(hosts, `closed-${place}`, { ...main, provider: "github", secretRef: { name: "badkey" } }),
        ],
      },
      { what: "provider aws", apply: (hosts, place) => [at(hosts, `closed-${place}`, { ...main, provider: "aws" })] },
      {
        what: "provider unknown",
        apply: (hosts, place) => [at(hosts, `closed-${place}`, { ...main, provider: "other" })],
      },
      {
        what: "a service account without a provider",
        apply: (hosts, place) => [at(hosts, `closed-${place}`, { ...main, serviceAccountName: "x" })],
      },
      {
        what: "a proxy that is missing",
        apply: (hosts, place) => [at(hosts, `closed-${place}`, { ...main, proxySecretRef: { name: "none" } })],
      },
      ...secretSteps(
        {
          "a proxy without an address": {},
          "a proxy with an empty address": { address: "" },
          "a proxy of another scheme": { address: "ftp://127.0.0.1:1" },
          "a proxy without a scheme": { address: "127.0.0.1:1" },
          "a proxy at a closed port": { address: "http://127.0.0.1:1" },
          "a proxy of SOCKS at a closed port": { address: "socks5://127.0.0.1:1" },
        },
        (hosts, place, name) => at(hosts, `closed-${place}`, { ...main, proxySecretRef: { name } }),
      ),
    ],
  },
];
