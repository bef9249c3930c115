import { messageOf } from "../core/failure.ts";
import { isJsonObject } from "../core/json.ts";
import { nameFault } from "../core/object-ref.ts";
import type { AccountTokens } from "../core/ports/account-tokens.ts";
import { ApiError } from "../core/ports/cluster.ts";
import type { KeyIdentity } from "../core/ports/data-keys.ts";
import type { HomeCluster } from "../core/ports/home-and-target.ts";
import type { Secret } from "../core/secret.ts";

/** A service account whose identity at a cloud an object uses: one of the object's own namespace. Faults are in Flux's words. */
export interface CloudAccount {
  /** The role of its annotation (IRSA). */
  awsRole(signal: AbortSignal): Promise<string>;
  /** The identity of that role, as long as the signal lasts. */
  awsIdentity(signal: AbortSignal): Promise<Extract<KeyIdentity, { kind: "account" }>>;
  token(audiences: readonly string[], signal: AbortSignal): Promise<Secret>;
}

const annotation = "eks.amazonaws.com/role-arn";
const rolePattern = /^arn:aws[\w-]*:iam::[0-9]{1,30}:role\/.{1,200}$/;
/** Whom STS wants a token of a service account to be for. */
export const stsAudience = "sts.amazonaws.com";

/**
 * The account is read only when it is needed.
 *
 * @param faultOf makes the error that says what is wrong with the account
 */
export function cloudAccount(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  home: Pick<HomeCluster, "get">,
  tokens: AccountTokens | undefined,
  faultOf: (message: string) => Error,
): CloudAccount {
  const found = async (signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> => {
    const failed = (why: string) => faultOf(`failed to get service account '${namespace}/${name}': ${why}`);
    const fault = nameFault(name);
    if (fault !== undefined) throw failed(fault);
    try {
      const ref = { group: "", version: "v1", kind: "ServiceAccount", namespace, name };
      const account = await home.get(ref, signal);
      if (account !== undefined) return account.metadata.annotations ?? {};
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      throw failed(messageOf(error));
    }
    throw failed(`serviceaccounts "${name}" not found`);
  };
  const issue = async (audiences: readonly string[], signal: AbortSignal): Promise<Secret> => {
    const failed = `failed to create kubernetes token for service account '${namespace}/${name}'`;
    if (tokens === undefined) throw faultOf(`${failed}: this cluster issues no tokens to Sluice`);
    try {
      return await tokens.issue({ namespace, name }, audiences, signal);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      throw faultOf(`${failed}: ${error.message}`);
    }
  };
  const awsRole = async (signal: AbortSignal): Promise<string> => {
    const annotations = await found(signal);
    const role = isJsonObject(annotations) ? annotations[annotation] : undefined;
    if (typeof role === "string" && rolePattern.test(role)) return role;
    const given = typeof role === "string" ? role : "";
    const why = `invalid ${annotation} annotation: '${given}'. must match ${rolePattern.source.replaceAll("\\/", "/")}`;
    throw faultOf(`failed to get provider identity from service account '${namespace}/${name}' annotations: ${why}`);
  };
  return {
    awsRole,
    async awsIdentity(signal) {
      const role = await awsRole(signal);
      return { kind: "account", namespace, name, role, token: () => issue([stsAudience], signal) };
    },
    async token(audiences, signal) {
      await found(signal);
      return issue(audiences, signal);
    },
  };
}
