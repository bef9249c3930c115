import { expect, test } from "vitest";
import { asHome } from "../../../../lib/core/ports/home-and-target.ts";
import type { Http } from "../../../../lib/core/ports/http.ts";
import { Secret } from "../../../../lib/core/secret.ts";
import { maxInstances, vaultTokens } from "../../../../lib/sops/keys/vault-tokens.ts";
import { never } from "../../../contract/state-back-end.ts";
import { noCluster } from "../../../doubles/no-cluster.ts";

const subject = Buffer.from('{"sub":"system:serviceaccount:n:a"}').toString("base64url");

/** Tokens by an account at servers that the ConfigMap lists; a server answers with its own address and path. */
function world(instances: readonly { readonly address: string; readonly loginPath: string }[]) {
  const audiences: unknown[] = [];
  const http: Http = {
    async send({ url }) {
      const body = Buffer.from(JSON.stringify({ auth: { client_token: `token of ${url}` } }));
      return { url, status: 200, headers: {}, body };
    },
  };
  const data = { "config.yaml": JSON.stringify({ instances }) };
  const config = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "vault", namespace: "sluice", uid: "u" },
    data,
  };
  const home = asHome({ ...noCluster, get: async () => config });
  const account = {
    token: async (audience: readonly string[]) => {
      audiences.push(audience);
      return new Secret(`e30.${subject}.c2ln`);
    },
    awsRole: () => Promise.reject(new Error("not asked for")),
    awsIdentity: () => Promise.reject(new Error("not asked for")),
  };
  const tokenFor = vaultTokens(undefined, account, {
    home,
    http,
    vaultConfigMap: { namespace: "sluice", name: "vault" },
  });
  return { audiences, tokenOf: async (address: string) => (await tokenFor(address, never)).reveal() };
}

const [a, b] = ["https://vault.example", "https://vault.example:8200"] as const;

test("each listed server has its own login and token, once per run", async () => {
  const { audiences, tokenOf } = world([
    { address: a, loginPath: "auth/a/login" },
    { address: b, loginPath: "auth/b/login" },
  ]);
  for (let times = 0; times < 2; times++) {
    expect(await tokenOf(a)).toBe(`token of ${a}/v1/auth/a/login`);
    expect(await tokenOf(b)).toBe(`token of ${b}/v1/auth/b/login`);
  }
  expect(audiences).toEqual([[a], [b]]);
  await expect(tokenOf(`${a}/`)).rejects.toThrow("no Vault login path configured");
});

test("of a server that is listed twice the last entry counts", async () => {
  const { tokenOf } = world([
    { address: a, loginPath: "auth/first/login" },
    { address: a, loginPath: "auth/last/login" },
  ]);
  expect(await tokenOf(a)).toBe(`token of ${a}/v1/auth/last/login`);
});

test("as many servers may be listed as the limit, and no more", async () => {
  const many = (count: number) => Array.from({ length: count }, () => ({ address: a, loginPath: "auth/a/login" }));
  expect(await world(many(maxInstances)).tokenOf(a)).toContain("token of");
  await expect(world(many(1_001)).tokenOf(a)).rejects.toThrow("instances must be a list");
});
