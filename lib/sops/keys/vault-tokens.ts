import { z } from "zod";
import { messageOf } from "../../core/failure.ts";
import { isJsonObject } from "../../core/json.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import type { Secret } from "../../core/secret.ts";
import type { CloudAccount } from "../../identity/cloud-account.ts";
import { SopsFault } from "../sops-fault.ts";
import type { KeyParts } from "./key-parts.ts";
import { type VaultToken, vaultLogin } from "./vault.ts";

const configKey = "config.yaml";
export const maxInstances = 1_000;
const Config = z.object({
  instances: z
    .array(z.object({ address: z.string(), loginPath: z.string() }))
    .max(maxInstances)
    .default([]),
});

/**
 * The tokens of one run: the tenant's own for every server, else those of logins with the token of his service account, at the servers that
 * the installation lists. There is no token of the installation.
 */
export function vaultTokens(
  given: Secret | undefined,
  account: CloudAccount | undefined,
  parts: Pick<KeyParts, "home" | "http" | "vaultConfigMap">,
): VaultToken {
  if (given !== undefined) return () => Promise.resolve(given);
  const tokens = new Map<string, Promise<Secret>>();
  return (address, signal) => {
    const token = tokens.get(address) ?? login(address, account, parts, signal);
    tokens.set(address, token);
    return token;
  };
}

async function login(
  address: string,
  account: CloudAccount | undefined,
  { home, http, vaultConfigMap }: Pick<KeyParts, "home" | "http" | "vaultConfigMap">,
  signal: AbortSignal,
): Promise<Secret> {
  if (vaultConfigMap === undefined) {
    const mend = "store one as sops.vault-token in the Secret of spec.decryption.secretRef";
    throw new SopsFault(`there is no token for Vault '${address}': ${mend}`);
  }
  const { namespace, name } = vaultConfigMap;
  const paths = await loginPaths({ namespace, name }, home, signal);
  const loginPath = paths.get(address) ?? "";
  if (loginPath === "") {
    throw new SopsFault(`no Vault login path configured for address '${address}' in ConfigMap '${namespace}/${name}'`);
  }
  const failed = "failed to issue Kubernetes token for Vault authentication";
  if (account === undefined) {
    const mend =
      "name a service account in spec.decryption.serviceAccountName or in default-decryption-service-account";
    throw new SopsFault(`${failed}: Sluice has no service account of its own: ${mend}`);
  }
  // The audience is the address, so that no other server can use the token.
  const jwt = await account.token([address], signal).catch((error: unknown) => {
    throw error instanceof SopsFault ? new SopsFault(`${failed}: ${error.message}`) : error;
  });
  return vaultLogin(http, { address, loginPath, jwt }, signal);
}

async function loginPaths(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  home: KeyParts["home"],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const ref = { group: "", version: "v1", kind: "ConfigMap", namespace, name };
  const found = await home.get(ref, signal).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    throw new SopsFault(`failed to get Vault ConfigMap '${namespace}/${name}': ${messageOf(error)}`);
  });
  if (found === undefined) {
    throw new SopsFault(`failed to get Vault ConfigMap '${namespace}/${name}': configmaps "${name}" not found`);
  }
  const text = isJsonObject(found["data"]) ? found["data"][configKey] : undefined;
  if (typeof text !== "string") {
    throw new SopsFault(`Vault ConfigMap '${namespace}/${name}' is missing the '${configKey}' key`);
  }
  const { loadAll } = await import("js-yaml");
  const failed = (why: string) =>
    new SopsFault(`failed to parse '${configKey}' in Vault ConfigMap '${namespace}/${name}': ${why}`);
  let document: unknown;
  try {
    [document] = loadAll(text);
  } catch (error) {
    throw failed(messageOf(error).split("\n", 1)[0] ?? "");
  }
  const config = Config.safeParse(document ?? {});
  if (!config.success) throw failed("instances must be a list with the address and the loginPath of each server");
  return new Map(config.data.instances.map((instance) => [instance.address, instance.loginPath]));
}
