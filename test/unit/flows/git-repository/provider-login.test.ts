import { describe, expect, test } from "vitest";
import { GitLoginError } from "../../../../lib/core/ports/git-login.ts";
import { Secret } from "../../../../lib/core/secret.ts";
import type { AccessSpec } from "../../../../lib/flows/git-repository/credentials.ts";
import { type ProviderLogins, providerLogin } from "../../../../lib/flows/git-repository/provider-login.ts";
import { codeCommitRegion, isCodeCommitHost } from "../../../../lib/sources/git/codecommit-host.ts";
import type { GitHubApp } from "../../../../lib/sources/git/github-app.ts";

const asked: GitHubApp[] = [];
const logins: ProviderLogins = {
  github: (app) => {
    asked.push(app);
    return Promise.resolve(new Secret("token"));
  },
  aws: {
    credentials: ({ namespace, url }) =>
      namespace === "apps"
        ? Promise.resolve({ username: `for ${url.pathname}`, password: new Secret("signature") })
        : Promise.reject(new GitLoginError("not-allowed", "not lent")),
  },
};
const secretRef = { name: "login" };
const app = { githubAppID: "12", githubAppPrivateKey: "pem", githubAppInstallationID: "34" };
const codeCommit = "https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/app";

interface Given {
  readonly spec: AccessSpec;
  readonly data?: Readonly<Record<string, string>>;
  readonly url?: string;
  readonly proxy?: string;
  readonly namespace?: string;
  readonly logins?: ProviderLogins;
}

async function login({
  data,
  logins: own = logins,
  namespace = "apps",
  proxy,
  spec,
  url = "https://github.com/a/b",
}: Given) {
  const secret = data && new Map(Object.entries(data));
  const way = proxy === undefined ? undefined : { url: new URL(proxy) };
  const request = { url: new URL(url), spec, secret, proxy: way, tls: { ca: "ca" } };
  const run = { signal: new AbortController().signal, key: { cluster: "c" } };
  const found = await providerLogin(request, own, { namespace, run });
  return found && [found.username, found.password.reveal()];
}

const failure = (given: Given) =>
  login(given).then(
    () => "nothing",
    (error: unknown) => error,
  );
const noApp = "secretRef with github app data must be specified when provider is set to github";

describe("provider github", () => {
  const spec = { provider: "github", secretRef } as const;

  test("uses the token of the GitHub App; the API is reached with the Secret's CA and through the proxy", async () => {
    const data = { ...app, githubAppBaseURL: "https://github.example.com" };
    expect(await login({ spec, data, proxy: "http://proxy:3128" })).toEqual(["x-access-token", "token"]);
    const [{ privateKey, ...rest } = {}] = asked.slice(-1);
    expect(privateKey?.reveal()).toBe("pem");
    expect(rest).toEqual({
      id: "12",
      installation: { id: "34" },
      baseUrl: "https://github.example.com",
      tls: { ca: "ca" },
      proxy: { url: new URL("http://proxy:3128") },
    });
  });

  test("finds the installation of the App by its owner", async () => {
    const { githubAppInstallationID: _id, ...rest } = app;
    await login({ spec, data: { ...rest, githubAppInstallationOwner: "acme" } });
    expect(asked.at(-1)?.installation).toEqual({ owner: "acme" });
  });

  test("without secretRef fails until the object changes (11.2/43)", async () => {
    expect(await failure({ spec: { provider: "github" } })).toMatchObject({
      reason: "InvalidProviderConfiguration",
      retry: "never",
      message: noApp,
    });
  });

  test.each([[{ username: "jane" }], [{ githubAppID: "12" }], [{ githubAppPrivateKey: "pem" }]])(
    "retries with a Secret that has no data of an App (11.2/43): %j",
    async (data) => {
      expect(await failure({ spec, data })).toMatchObject({
        reason: "InvalidProviderConfiguration",
        retry: "backoff",
        message: noApp,
      });
    },
  );

  test.each([[{ githubAppInstallationOwner: "acme" }], [{ githubAppInstallationID: undefined }]])(
    "requires exactly one of owner and installation ID: %j",
    async (change) => {
      const data = Object.fromEntries(
        Object.entries({ ...app, ...change }).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
      );
      expect(await failure({ spec, data })).toMatchObject({
        reason: "AuthenticationFailed",
        message:
          "secret 'apps/login' must contain exactly one of 'githubAppInstallationOwner' or 'githubAppInstallationID'",
      });
    },
  );

  test.each([
    [{ githubAppID: "../../../user" }, "app ID must be provided to use github app authentication"],
    [
      { githubAppInstallationID: "1/x" },
      "app installation owner or ID must be provided to use github app authentication",
    ],
    [{ githubAppPrivateKey: "" }, "private key must be provided to use github app authentication"],
  ])("refuses an invalid value before any request: %j", async (change, why) => {
    expect(await failure({ spec, data: { ...app, ...change } })).toMatchObject({
      reason: "AuthenticationFailed",
      message: `failed to configure authentication options: ${why}`,
    });
  });

  test("reports the error of GitHub, and retries", async () => {
    const github = () => Promise.reject(new Error("POST https://api.github.com/app: 401"));
    expect(await failure({ spec, data: app, logins: { ...logins, github } })).toMatchObject({
      reason: "AuthenticationFailed",
      retry: "backoff",
      message: "failed to configure authentication options: POST https://api.github.com/app: 401",
    });
  });
});

test.each([[{ secretRef }], [{ secretRef, provider: "generic" } as const]])(
  "App data without provider github is refused (11.2/44): %j",
  async (spec) => {
    expect(await failure({ spec, data: app })).toMatchObject({
      reason: "InvalidProviderConfiguration",
      retry: "backoff",
      message: "secretRef 'apps/login' has github app data but provider is not set to github",
    });
    expect(await login({ spec, data: { username: "jane" } })).toBeUndefined();
  },
);

describe("provider aws", () => {
  const spec = { provider: "aws" } as const;

  test("logs in to the repository", async () => {
    expect(await login({ spec, url: codeCommit })).toEqual(["for /v1/repos/app", "signature"]);
  });

  test.each(["aws", "azure"] as const)(
    "with serviceAccountName needs a feature gate (11.2/46): %s",
    async (provider) => {
      expect(await failure({ spec: { provider, serviceAccountName: "own" }, url: codeCommit })).toMatchObject({
        reason: "FeatureGateDisabled",
        retry: "never",
        message:
          "to use spec.serviceAccountName for provider authentication please enable the ObjectLevelWorkloadIdentity feature gate in the controller",
      });
    },
  );

  test("reports a login that the identity cannot get, and retries", async () => {
    expect(await failure({ spec, url: codeCommit, namespace: "other" })).toMatchObject({
      reason: "AuthenticationFailed",
      retry: "backoff",
      message: "failed to configure authentication options: not lent",
    });
  });

  test.each([
    [{ proxy: "http://proxy:3128" }, "spec.proxySecretRef"],
    [{ data: { "ca.crt": "pem" } }, "'ca.crt' of spec.secretRef"],
    [{ data: { caFile: "pem" } }, "'caFile' of spec.secretRef"],
  ])("sends Sluice's login only to AWS: %j", async (given, field) => {
    expect(await failure({ spec: { ...spec, secretRef }, url: codeCommit, ...given })).toMatchObject({
      reason: "InvalidProviderConfiguration",
      retry: "never",
      message: `${field} cannot be set with provider aws, which logs in to AWS alone: remove it, or log in with a secretRef`,
    });
  });

  test("is unsupported if Sluice has no AWS identity", async () => {
    expect(await failure({ spec, url: codeCommit, logins: { ...logins, aws: undefined } })).toMatchObject({
      reason: "UnsupportedField",
      retry: "never",
    });
  });
});

test("provider azure is refused by name", async () => {
  expect(await failure({ spec: { provider: "azure" } })).toMatchObject({
    reason: "UnsupportedField",
    message:
      "spec.provider azure is not supported: give a secretRef with a personal access token, or leave this GitRepository to Flux",
  });
});

test.each([
  ["https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/a", "eu-west-1"],
  ["https://git-codecommit-fips.us-gov-west-1.amazonaws.com/v1/repos/a", "us-gov-west-1"],
  ["https://git-codecommit.cn-north-1.amazonaws.com.cn/v1/repos/a", "cn-north-1"],
  ["https://git-codecommit.eu-west-1.amazonaws.com:443/v1/repos/a", "eu-west-1"],
])("%s is a CodeCommit URL of region %s", (text, region) => {
  const url = new URL(text);
  expect([codeCommitRegion(url), isCodeCommitHost(url.hostname)]).toEqual([region, true]);
});

test.each([
  "http://git-codecommit.eu-west-1.amazonaws.com/v1/repos/a",
  "ssh://git-codecommit.eu-west-1.amazonaws.com/v1/repos/a",
  "https://git-codecommit.eu-west-1.amazonaws.com:8443/v1/repos/a",
  "https://git-codecommit.eu-west-1.amazonaws.com.evil.test/v1/repos/a",
  "https://my-git-codecommit.eu-west-1.amazonaws.com/v1/repos/a",
  "https://git-codecommit.eu-west-1.amazonaws.org/v1/repos/a",
  "https://git-codecommit.a.b.amazonaws.com/v1/repos/a",
  "https://git-codecommit.amazonaws.com/v1/repos/a",
])("%s is not a valid CodeCommit URL", (text) => {
  expect(() => codeCommitRegion(new URL(text))).toThrow(GitLoginError);
});
