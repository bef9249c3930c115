import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { LiveObject } from "../../../../lib/core/manifest.ts";
import { ApiError } from "../../../../lib/core/ports/cluster.ts";
import { DataKeyError, type KeyIdentity } from "../../../../lib/core/ports/data-keys.ts";
import { Secret } from "../../../../lib/core/secret.ts";
import type { Recipient } from "../../../../lib/sops/key-source.ts";
import { importKeys, type KeyRequest } from "../../../../lib/sops/keys/import-keys.ts";
import type { KeyParts } from "../../../../lib/sops/keys/key-parts.ts";
import { maxInstances } from "../../../../lib/sops/keys/vault-tokens.ts";
import { SopsFault } from "../../../../lib/sops/sops-fault.ts";
import { never } from "../../../contract/state-back-end.ts";
import { recordedExchanges } from "../../../doubles/recorded-exchanges.ts";

const fixture = (name: string) => readFileSync(new URL(`../../../fixtures/${name}`, import.meta.url), "utf8");
const agekey = fixture("sops/keys/first.agekey");
const role = "arn:aws:iam::111122223333:role/apps";
const arn = "arn:aws:kms:eu-west-1:111122223333:key/1";
const kms: Recipient = { kind: "kms", arn, role: undefined, context: { a: "b" }, awsProfile: "dev", enc: "AQID" };
const vault: Recipient = {
  kind: "hc_vault",
  vaultAddress: "https://vault.example.com:8200",
  enginePath: "team-a/transit",
  keyName: "sops-key",
  enc: "vault:v1:8SDd3WHDOjf7mq69CyCqYjBXAiQQAVZRkFM13ok481zoCmHnSeDX9vyf7w==",
};
const dataKey = "the data key of sops, 32 bytes..";

function objectOf(kind: string, path: string, content: object): LiveObject {
  const [namespace = "", name = ""] = path.split("/");
  return { apiVersion: "v1", kind, metadata: { namespace, name, uid: path }, ...content };
}

function secret(path: string, data: Readonly<Record<string, string>>): LiveObject {
  const entries = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
  return objectOf("Secret", path, { data: Object.fromEntries(entries) });
}

/** A cluster with these objects; KMS answers whatever is asked, and tells who has asked. */
function worldOf(objects: readonly LiveObject[], changed: Partial<KeyParts> = {}) {
  const asked: KeyIdentity[] = [];
  const reads: string[] = [];
  const parts: KeyParts = {
    home: {
      get: async ({ kind, namespace, name }) => {
        reads.push(`${kind}/${namespace}/${name}`);
        return objects.find(
          (one) => one.kind === kind && one.metadata.namespace === namespace && one.metadata.name === name,
        );
      },
    },
    http: recordedExchanges("vault-transit", "vault-login"),
    clock: { now: () => 0 },
    dataKeys: {
      open: async (_sealed, identity) => {
        asked.push(identity);
        return new Secret(Buffer.from(dataKey).toString("base64"));
      },
    },
    accountTokens: undefined,
    ageSecret: undefined,
    vaultConfigMap: undefined,
    defaultAccount: "",
    ...changed,
  };
  const open = async (decryption: KeyRequest["decryption"], recipient: Recipient) => {
    const sources = await importKeys({ decryption, cluster: "c1", namespace: "apps" }, parts, never);
    for (const source of sources) {
      const opened = await source.open(recipient, never);
      if (opened !== undefined) return Buffer.from(opened).toString();
    }
    return undefined;
  };
  return { parts, open, asked, reads };
}

const secretRef = { name: "sops-keys" };
const Login = z.array(z.object({ request: z.object({ json: z.object({ jwt: z.string() }) }) }));
const jwt = Login.parse(JSON.parse(fixture("sops-keys/exchanges/vault-login.json")))[0]?.request.json.jwt ?? "";

describe("the entries of the decryption Secret", () => {
  test("are the keys by their names, and other entries are ignored", async () => {
    const { open, asked } = worldOf([
      secret("apps/sops-keys", {
        "a.agekey": agekey,
        "gpg.asc": fixture("sops-keys/pgp/rsa.asc"),
        "sops.vault-token": "\n hvs.test-token \n",
        "sops.aws-kms": "aws_access_key_id: AKIA\naws_secret_access_key: s\naws_session_token: t\n",
        "notes.vault-token": "ignored",
        "README.md": "ignored",
      }),
    ]);
    const pgp: Recipient = { kind: "pgp", fingerprint: "X", enc: fixture("sops-keys/pgp/rsa.message") };
    expect(await open({ secretRef }, pgp)).toBe(dataKey);
    expect(await open({ secretRef }, vault)).toBe(dataKey);
    expect(await open({ secretRef }, kms)).toBe(dataKey);
    expect(asked).toEqual([
      { kind: "static", accessKeyId: "AKIA", secretAccessKey: new Secret("s"), sessionToken: new Secret("t") },
    ]);
    const [identity] = asked;
    expect(identity?.kind === "static" && identity.secretAccessKey.reveal()).toBe("s");
  });

  test.each([
    { key: "a.agekey", value: "hunter2", says: "failed to parse and add to age identities: unknown identity type" },
    {
      key: "a.asc",
      value: "hunter2",
      says: "failed to import armored key data into GnuPG keyring: no valid OpenPGP data found",
    },
    {
      key: "sops.aws-kms",
      value: "{hunter2",
      says: "failed to unmarshal AWS credentials file: it is not YAML",
    },
    {
      key: "sops.aws-kms",
      value: "aws_access_key_id: hunter2",
      says: "failed to unmarshal AWS credentials file: aws_access_key_id and aws_secret_access_key must not be empty",
    },
    {
      key: "sops.aws-kms",
      value: "aws_secret_access_key: 12345",
      says: "failed to unmarshal AWS credentials file: it must be a mapping with aws_access_key_id and aws_secret_access_key, as text",
    },
    { key: "sops.gcp-kms", value: "hunter2", says: "the credentials are not JSON" },
    { key: "sops.azure-kv", value: "clientId: hunter2", says: "clientId alone means a managed identity of Azure" },
  ])("that cannot be parsed are refused by name, $key $value", async ({ key, value, says }) => {
    const { open } = worldOf([secret("apps/sops-keys", { [key]: value })]);
    const fault = await open({ secretRef }, kms).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(SopsFault);
    const start = `SopsFault: failed to import '${key}' data from sops decryption Secret 'apps/sops-keys': ${says}`;
    expect(String(fault).slice(0, start.length)).toBe(start);
    expect(String(fault)).not.toContain("hunter2");
  });

  const age: Recipient = { kind: "age", recipient: "age1x", enc: "" };
  const pgp: Recipient = { kind: "pgp", fingerprint: "X", enc: fixture("sops-keys/pgp/rsa.message") };
  test.each([
    { name: "age.key", value: agekey, recipient: age, wanted: "age.agekey" },
    { name: "identity", value: agekey, recipient: age, wanted: "identity.agekey" },
    { name: "private.gpg", value: fixture("sops-keys/pgp/rsa.asc"), recipient: pgp, wanted: "private.asc" },
    { name: "aws-kms.yaml", value: "x", recipient: kms, wanted: "sops.aws-kms" },
    { name: "vault-token", value: "x", recipient: vault, wanted: "sops.vault-token" },
  ])("a key under the name $name is not read, and the failure says to rename it to $wanted", async (one) => {
    const { parts } = worldOf([secret("apps/sops-keys", { [one.name]: one.value })]);
    const sources = await importKeys({ decryption: { secretRef }, cluster: "c1", namespace: "apps" }, parts, never);
    const faults = await Promise.allSettled(sources.map(async (source) => source.open(one.recipient, never)));
    const said = faults.flatMap((fault) => (fault.status === "rejected" ? String(fault.reason) : []));
    expect(said).toContain(
      `SopsFault: in the decryption Secret '${one.name}' is not read: rename it to '${one.wanted}'`,
    );
    expect(said.join()).not.toContain("AGE-SECRET-KEY");
  });

  test("of the installation's Secret are only age keys", async () => {
    const all = {
      "a.agekey": agekey,
      "gpg.asc": fixture("sops-keys/pgp/rsa.asc"),
      "sops.vault-token": "hvs.test-token",
      "sops.aws-kms": "aws_access_key_id: AKIA\naws_secret_access_key: s\n",
      agekey: "ignored",
      "b.agekey.old": "ignored",
    };
    const ageSecret = { namespace: "flux-system", name: "age" };
    const { asked, open } = worldOf([secret("flux-system/age", all)], { ageSecret });
    const pgp: Recipient = { kind: "pgp", fingerprint: "X", enc: fixture("sops-keys/pgp/rsa.message") };
    await expect(open({}, pgp)).rejects.toThrow(SopsFault);
    await expect(open({}, vault)).rejects.toThrow(SopsFault);
    await open({}, kms);
    expect(asked).toEqual([{ kind: "installation", cluster: "c1", namespace: "apps" }]);
  });

  test("are read only in the namespace of the object", async () => {
    const { open, reads } = worldOf([secret("other/sops-keys", { "sops.vault-token": "x" })]);
    await expect(open({ secretRef }, kms)).rejects.toThrow(new SopsFault('secrets "sops-keys" not found'));
    await expect(open({ secretRef: { name: "../other/sops-keys" } }, kms)).rejects.toThrow(
      "cannot get sops decryption Secret 'apps/../other/sops-keys': invalid resource name",
    );
    expect(reads).toEqual(["Secret/apps/sops-keys"]);
  });

  test.each([
    { reason: "Forbidden", code: 403, name: "SopsFault" },
    { reason: "Unreachable", code: 0, name: "Outage" },
  ])(
    "that Sluice has no right to read or cannot read give a $name if the API server answers $reason",
    async ({ reason, code, name }) => {
      const fault = new ApiError({ code, reason, message: "the server said so" });
      const home = { get: () => Promise.reject(fault) };
      const { open } = worldOf([], { home });
      await expect(open({ secretRef }, kms)).rejects.toMatchObject({
        name,
        message: "cannot get sops decryption Secret 'apps/sops-keys': the server said so",
      });
    },
  );
});

describe("the age keys of the installation", () => {
  const ageSecret = { namespace: "flux-system", name: "all" };
  const installed = secret("flux-system/all", { "a.agekey": agekey, "sops.vault-token": "hvs.test-token" });
  const age: Recipient = { kind: "age", recipient: "age1", enc: "not for us" };

  test("apply if the object names no Secret, and other entries are ignored", async () => {
    const { open, reads } = worldOf([installed], { ageSecret });
    await expect(open({}, age)).rejects.toThrow(SopsFault);
    await expect(open({}, vault)).rejects.toThrow("there is no token for Vault 'https://vault.example.com:8200'");
    expect(reads).toEqual(["Secret/flux-system/all", "Secret/flux-system/all"]);
  });

  test("do not apply if the object names a Secret", async () => {
    const { open, reads } = worldOf([installed, secret("apps/sops-keys", {})], { ageSecret });
    expect(await open({ secretRef }, age)).toBeUndefined();
    expect(reads).toEqual(["Secret/apps/sops-keys"]);
  });

  test("are refused with Flux's text if one cannot be parsed", async () => {
    const broken = secret("flux-system/all", { "a.agekey": "hunter2" });
    const { open } = worldOf([broken], { ageSecret });
    await expect(open({}, age)).rejects.toThrow(
      "failed to import 'a.agekey' data from sops SOPS age decryption Secret 'flux-system/all': failed to parse",
    );
  });
});

describe("without credentials of the tenant, KMS is called", () => {
  const account = (annotations: Readonly<Record<string, string>>) => ({
    ...objectOf("ServiceAccount", "apps/decrypts", {}),
    metadata: { namespace: "apps", name: "decrypts", uid: "u", annotations },
  });
  const accountTokens = { issue: async () => new Secret(jwt) };

  test("by the installation, if it allows its identity for the namespace of the cluster", async () => {
    const { open, asked } = worldOf([]);
    await open({}, kms);
    expect(asked).toEqual([{ kind: "installation", cluster: "c1", namespace: "apps" }]);
  });

  test("as the role of the service account that the object names", async () => {
    const { open, asked } = worldOf([account({ "eks.amazonaws.com/role-arn": role })], { accountTokens });
    await open({ serviceAccountName: "decrypts" }, kms);
    expect(asked).toMatchObject([{ kind: "account", namespace: "apps", name: "decrypts", role }]);
    expect(asked[0]?.kind === "account" && (await asked[0].token()).reveal()).toBe(jwt);
  });

  test("as the account of the installation's default, if the object names none", async () => {
    const objects = [account({ "eks.amazonaws.com/role-arn": role })];
    const { open, asked } = worldOf(objects, { accountTokens, defaultAccount: "decrypts" });
    await open({}, kms);
    expect(asked).toMatchObject([{ kind: "account", name: "decrypts" }]);
    await expect(open({ serviceAccountName: "other" }, kms)).rejects.toThrow(
      "failed to get service account 'apps/other': serviceaccounts \"other\" not found",
    );
  });

  test("but not by the installation if the account has no role", async () => {
    const { open, asked } = worldOf([account({})], { accountTokens });
    await expect(open({ serviceAccountName: "decrypts" }, kms)).rejects.toThrow(
      new SopsFault(
        "failed to get provider identity from service account 'apps/decrypts' annotations: invalid eks.amazonaws.com/role-arn annotation: ''. must match ^arn:aws[\\w-]*:iam::[0-9]{1,30}:role/.{1,200}$",
      ),
    );
    expect(asked).toEqual([]);
  });

  test("but not at all if the account's role is invalid", async () => {
    const { open, asked } = worldOf([account({ "eks.amazonaws.com/role-arn": "admin" })], { accountTokens });
    await expect(open({ serviceAccountName: "decrypts" }, kms)).rejects.toThrow(
      "invalid eks.amazonaws.com/role-arn annotation: 'admin'. must match",
    );
    expect(asked).toEqual([]);
  });

  test("and a refusal of KMS is reported", async () => {
    const dataKeys = { open: () => Promise.reject(new DataKeyError("denied", "kms:Decrypt on key k: no")) };
    const { open } = worldOf([], { dataKeys });
    await expect(open({}, kms)).rejects.toThrow(
      "failed to decrypt sops data key with AWS KMS: kms:Decrypt on key k: no",
    );
    await expect(open({}, { ...kms, enc: "%" })).rejects.toThrow("error base64-decoding encrypted data key");
  });
});

describe("without a token of the tenant, Vault is called", () => {
  const vaultConfigMap = { namespace: "flux-system", name: "vaults" };
  const vaults = (config: string) => objectOf("ConfigMap", "flux-system/vaults", { data: { "config.yaml": config } });
  const listed = vaults("instances:\n- address: https://vault.example.com:8200\n  loginPath: auth/kubernetes/login\n");
  const decrypts = objectOf("ServiceAccount", "apps/decrypts", {});
  const serviceAccountName = "decrypts";

  test("with a login by the token of the service account, once per run", async () => {
    const audiences: string[] = [];
    const accountTokens: KeyParts["accountTokens"] = {
      issue: async ({ namespace, name }, audience) => {
        audiences.push(`${namespace}/${name} for ${audience.join()}`);
        return new Secret(jwt);
      },
    };
    const { parts } = worldOf([listed, decrypts], { vaultConfigMap, accountTokens });
    const request = { decryption: { serviceAccountName }, cluster: "c1", namespace: "apps" };
    const sources = await importKeys(request, parts, never);
    for (const _file of ["first", "second"]) {
      const opened = await Promise.all(sources.map((source) => source.open(vault, never)));
      expect(opened.some((one) => Buffer.from(one ?? []).toString() === dataKey)).toBe(true);
    }
    expect(audiences).toEqual(["apps/decrypts for https://vault.example.com:8200"]);
  });

  test.each([
    {
      name: "that the installation does not list",
      objects: [vaults("instances: []"), decrypts],
      says: "no Vault login path configured for address 'https://vault.example.com:8200' in ConfigMap 'flux-system/vaults'",
    },
    {
      name: "whose ConfigMap is missing",
      objects: [decrypts],
      says: "failed to get Vault ConfigMap 'flux-system/vaults': configmaps \"vaults\" not found",
    },
    {
      name: "whose ConfigMap has another key",
      objects: [objectOf("ConfigMap", "flux-system/vaults", { data: {} }), decrypts],
      says: "Vault ConfigMap 'flux-system/vaults' is missing the 'config.yaml' key",
    },
    {
      name: "whose ConfigMap cannot be read",
      objects: [vaults("instances: hello"), decrypts],
      says: "failed to parse 'config.yaml' in Vault ConfigMap 'flux-system/vaults': instances must be a list",
    },
    {
      name: "on a list without end",
      objects: [vaults("instances:\n" + "- {address: a, loginPath: b}\n".repeat(maxInstances + 1)), decrypts],
      says: "failed to parse 'config.yaml' in Vault ConfigMap 'flux-system/vaults': instances must be a list",
    },
    {
      name: "for whom the cluster issues no token",
      objects: [listed, decrypts],
      says: "failed to issue Kubernetes token for Vault authentication: failed to create kubernetes token for service account 'apps/decrypts': this cluster issues no tokens to Sluice",
    },
    {
      name: "whose account is missing",
      objects: [listed],
      says: "failed to issue Kubernetes token for Vault authentication: failed to get service account 'apps/decrypts': serviceaccounts \"decrypts\" not found",
    },
  ])("but not at a server $name", async ({ objects, says }) => {
    const { open, parts } = worldOf(objects, { vaultConfigMap });
    await expect(open({ serviceAccountName }, vault)).rejects.toThrow(says);
    expect(parts.http).toHaveProperty("seen", []);
  });

  test("but not without a service account", async () => {
    const { open } = worldOf([listed], { vaultConfigMap });
    await expect(open({}, vault)).rejects.toThrow("Sluice has no service account of its own: name a service account");
  });
});

test("no key of Google's or Azure's is used without credentials of the tenant", async () => {
  const { open } = worldOf([]);
  const google: Recipient = { kind: "gcp_kms", resourceId: "projects/p", enc: "x" };
  const azure: Recipient = {
    kind: "azure_kv",
    vaultUrl: "https://a.vault.azure.net",
    keyName: "k",
    version: "1",
    enc: "x",
  };
  await expect(open({}, google)).rejects.toThrow("there are no credentials: store them as sops.gcp-kms in the Secret");
  await expect(open({}, azure)).rejects.toThrow("there are no credentials: store them as sops.azure-kv in the Secret");
});

test("for an object without a Secret nothing is read from the cluster until a file needs it", async () => {
  const { parts, reads } = worldOf([], { vaultConfigMap: { namespace: "a", name: "b" }, defaultAccount: "x" });
  await importKeys({ decryption: {}, cluster: "c1", namespace: "apps" }, parts, never);
  expect(reads).toEqual([]);
});
