import { basename } from "node:path";
import { messageOf } from "../lib/core/failure.ts";
import { checkTrustPolicy, parseTrustPolicy } from "../lib/sources/oci/verify/notation/trust-policy.ts";
import type { CreatedOptions } from "./create-object.ts";
import { createSecret, readSecretFile } from "./create-secret.ts";
import { checkName } from "./created-object.ts";
import type { Surroundings } from "./session.ts";

interface NotationSecretOptions extends CreatedOptions {
  readonly trustPolicyFile?: string;
  readonly caCertFile?: readonly string[];
}

/** `create secret notation`: the trust policy and the authorities that signatures of Notation are verified with. */
export async function createSecretNotation(
  name: string | undefined,
  options: NotationSecretOptions,
  surroundings: Surroundings,
): Promise<void> {
  checkName(name);
  const { trustPolicyFile = "", caCertFile = [] } = options;
  if (caCertFile.length === 0) throw new Error("--ca-cert-file is required");
  if (trustPolicyFile === "") throw new Error("--trust-policy-file is required");
  const policy = await readSecretFile(trustPolicyFile, "unable to read trust policy file");
  checkPolicy(policy, trustPolicyFile);
  const data = { ...(await authorities(caCertFile)), "trustpolicy.json": policy };
  await createSecret("notation configuration", { name, dataIn: () => data }, options, surroundings);
}

function checkPolicy(text: string, file: string): void {
  try {
    checkTrustPolicy(parseTrustPolicy(text));
  } catch (error) {
    throw new Error(`invalid trust policy: ${file}: ${messageOf(error)}`, { cause: error });
  }
}

/** Each under the name of its file. */
async function authorities(files: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const found = new Map<string, string>();
  for (const file of files) {
    const key = basename(file);
    if (!/\.(crt|pem)$/.test(key)) throw new Error(`${key} must end with either .crt or .pem`);
    if (found.has(key)) throw new Error(`two files of --ca-cert-file are named ${key}: give them different names`);
    found.set(key, await readSecretFile(file, "unable to read TLS CA file"));
  }
  return Object.fromEntries(found);
}
