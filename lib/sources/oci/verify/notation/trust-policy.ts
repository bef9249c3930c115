import { z } from "zod";
import { cutText } from "../../../../core/cut-text.ts";
import { fieldFault, fieldFaults, limitedList, limitedMap } from "../../../../core/validation.ts";
import { jsonOf } from "../../registry-fault.ts";
import { SignatureFault } from "../signature-fault.ts";
import { isWithin, parseDistinguishedName } from "./distinguished-name.ts";

/** Statements of a trust policy, and scopes, stores and identities of a statement. */
export const maxPolicyEntries = 1_000;
const maxQuotedBytes = 200;

const checks = ["integrity", "authenticity", "authenticTimestamp", "expiry", "revocation"] as const;
type Check = (typeof checks)[number];
/** What happens if a check fails: the signature does not count, or the failure is only logged. */
type Action = "enforce" | "log" | "skip";

const texts = limitedList(z.string(), maxPolicyEntries).default([]);
const Statement = z.object({
  name: z.string().default(""),
  registryScopes: texts,
  signatureVerification: z.object({
    level: z.string().default(""),
    override: limitedMap(z.string(), maxPolicyEntries).default({}),
    verifyTimestamp: z.string().default(""),
  }),
  trustStores: texts,
  trustedIdentities: texts,
});
type Statement = z.infer<typeof Statement>;
const Policy = z.object({
  version: z.string().default(""),
  trustPolicies: limitedList(Statement, maxPolicyEntries).default([]),
});

/** A `trustpolicy.json` of Notation that has been read, and not checked yet. */
export type TrustPolicy = z.infer<typeof Policy>;

/** The statement of a policy for one artifact. */
export interface Applicable {
  readonly name: string;
  readonly actions: Readonly<Record<Check, Action>>;
  readonly isSkipped: boolean;
  /** `ca:acme`, `signingAuthority:acme`: the types alone count, since all stores hold the certificates of the Secret. */
  readonly storeTypes: ReadonlySet<string>;
  readonly isTimestampAlwaysVerified: boolean;
  readonly identities: readonly string[];
}

/** Reads a `trustpolicy.json`. Throws a {@link SignatureFault} in Flux's words. */
export function parseTrustPolicy(text: string): TrustPolicy {
  const json = jsonOf(Buffer.from(text));
  const parsed = Policy.safeParse(json, { error: fieldFault });
  if (parsed.success) return parsed.data;
  const why = json === undefined ? "it is not JSON" : fieldFaults(parsed.error);
  throw new SignatureFault(`error occurred while parsing trustpolicy.json: ${why}`);
}

const levels: Readonly<Record<string, readonly Action[]>> = {
  strict: ["enforce", "enforce", "enforce", "enforce", "enforce"],
  permissive: ["enforce", "enforce", "log", "log", "log"],
  audit: ["enforce", "log", "log", "log", "log"],
  skip: ["skip", "skip", "skip", "skip", "skip"],
};

/**
 * Checks a whole policy by the rules of version 1.0, and answers the statement for a repository (`host/name`): that which names it,
 * before the one for all. Throws a {@link SignatureFault} in Notation's words.
 */
export function applicableStatement(policy: TrustPolicy, reference: string): Applicable {
  const checked = checkTrustPolicy(policy);
  const [repository = ""] = reference.split("@");
  const found =
    checked.find(({ scopes }) => scopes.includes(repository)) ?? checked.find(({ scopes }) => scopes.includes("*"));
  if (found !== undefined) return found.applicable;
  const why = "Trust policy applicability for a given artifact is determined by registryScopes";
  return fail(`artifact ${quoted(reference)} has no applicable trust policy statement. ${why}`);
}

/** A statement, and the repositories that it is for. */
interface CheckedStatement {
  readonly scopes: readonly string[];
  readonly applicable: Applicable;
}

/** Checks a whole policy by the rules of version 1.0. Throws a {@link SignatureFault} in Notation's words. */
export function checkTrustPolicy(policy: TrustPolicy): readonly CheckedStatement[] {
  if (policy.version === "") fail("trust policy document has empty version, version must be specified");
  if (policy.version !== "1.0") fail(`trust policy document uses unsupported version ${quoted(policy.version)}`);
  if (policy.trustPolicies.length === 0) fail("trust policy document can not have zero trust policy statements");
  const names = new Set<string>();
  const checked = policy.trustPolicies.map((statement) => {
    const { name } = statement;
    if (names.has(name)) {
      fail(`multiple trust policy statements use the same name ${quoted(name)}, statement names must be unique`);
    }
    names.add(name);
    return { scopes: statement.registryScopes, applicable: checkedStatement(statement) };
  });
  checkScopes(policy.trustPolicies);
  return checked;
}

function checkedStatement(statement: Statement): Applicable {
  const { name, signatureVerification, trustStores, trustedIdentities } = statement;
  if (name === "") fail("trust policy: a trust policy statement is missing a name, every statement requires a name");
  const actions = actionsOf(signatureVerification, name);
  const isSkipped = signatureVerification.level === "skip";
  const { verifyTimestamp } = signatureVerification;
  if (!["", "always", "afterCertExpiry"].includes(verifyTimestamp)) {
    const why = `verifyTimestamp must be "always" or "afterCertExpiry", but got ${quoted(verifyTimestamp)}`;
    fail(`trust policy: trust policy statement ${quoted(name)} has invalid signatureVerification: ${why}`);
  }
  // Stores and identities of a statement that skips are left out, as in Flux.
  if (!isSkipped) {
    checkStores(trustStores, trustedIdentities, name);
    checkIdentities(trustedIdentities, name);
  }
  return {
    name,
    actions,
    isSkipped,
    storeTypes: new Set(trustStores.map((store) => store.split(":", 1).join(""))),
    isTimestampAlwaysVerified: verifyTimestamp !== "afterCertExpiry",
    identities: trustedIdentities,
  };
}

function actionsOf({ level, override }: Statement["signatureVerification"], name: string): Applicable["actions"] {
  const invalid = (why: string) =>
    fail(`trust policy: trust policy statement ${quoted(name)} has invalid signatureVerification: ${why}`);
  if (level === "") return invalid("signature verification level is empty or missing in the trust policy statement");
  const base = Object.hasOwn(levels, level) ? levels[level] : undefined;
  if (base === undefined) return invalid(`invalid signature verification level ${quoted(level)}`);
  const [integrity, authenticity, authenticTimestamp, expiry, revocation] = base;
  if (!integrity || !authenticity || !authenticTimestamp || !expiry || !revocation) throw new TypeError("no level");
  const actions = { integrity, authenticity, authenticTimestamp, expiry, revocation };
  const entries = Object.entries(override);
  if (entries.length > 0 && level === "skip") {
    return invalid(`signature verification level "skip" can't be used to customize signature verification`);
  }
  for (const [key, action] of entries) {
    const check = checks.find((one) => one === key);
    if (check === undefined) {
      return invalid(`verification type ${quoted(key)} in custom signature verification is not supported`);
    }
    if (action !== "enforce" && action !== "log" && action !== "skip") {
      return invalid(`verification action ${quoted(action)} in custom signature verification is not supported`);
    }
    if (check === "integrity") {
      return invalid(`"integrity" verification can not be overridden in custom signature verification`);
    }
    if (check !== "revocation" && action === "skip") {
      return invalid(`${quoted(key)} verification can not be skipped in custom signature verification`);
    }
    actions[check] = action;
  }
  return actions;
}

const storeTypes = new Set(["ca", "signingAuthority", "tsa"]);

function checkStores(stores: readonly string[], identities: readonly string[], name: string): void {
  const statement = `trust policy: trust policy statement ${quoted(name)}`;
  if (stores.length === 0 || identities.length === 0) {
    fail(`${statement} is either missing trust stores or trusted identities, both must be specified`);
  }
  for (const store of stores) {
    const [type = "", named] = store.split(/:(.*)/s, 2);
    if (named === undefined) {
      const form = "The required format is <TrustStoreType>:<TrustStoreName>";
      fail(`${statement} has malformed trust store value ${quoted(store)}. ${form}`);
    } else if (!storeTypes.has(type)) {
      fail(`${statement} uses an unsupported trust store type ${quoted(type)} in trust store value ${quoted(store)}`);
    } else if (!/^[a-zA-Z0-9_.-]+$/.test(named)) {
      const form = "Named store name needs to follow [a-zA-Z0-9_.-]+ format";
      const where = `in trust store value ${quoted(store)}. ${form}`;
      fail(`${statement} uses an unsupported trust store name ${quoted(named)} ${where}`);
    }
  }
}

const subjectPrefix = "x509.subject:";

function checkIdentities(identities: readonly string[], name: string): void {
  const statement = `trust policy: trust policy statement ${quoted(name)}`;
  if (identities.length > 1 && identities.includes("*")) {
    const why = "a wildcard identity cannot be used in conjunction with other values";
    fail(`${statement} uses a wildcard trusted identity '*', ${why}`);
  }
  const subjects = identities.flatMap((identity) => {
    if (identity === "") fail(`${statement} has an empty trusted identity`);
    if (identity !== "*" && !identity.includes(":")) {
      fail(`${statement} has trusted identity ${quoted(identity)} missing separator`);
    }
    if (!identity.startsWith(subjectPrefix)) return [];
    if (identity === subjectPrefix) {
      fail(`${statement} has trusted identity ${quoted(identity)} without an identity value`);
    }
    return [{ identity, subject: parseDistinguishedName(identity.slice(subjectPrefix.length)) }];
  });
  for (const [index, one] of subjects.entries()) {
    const other = subjects.find((each, at) => at !== index && isWithin(one.subject, each.subject));
    if (other === undefined) continue;
    const which = `${quoted(one.identity)} overlaps with ${quoted(other.identity)}`;
    fail(`${statement} has overlapping x509 trustedIdentities, ${which}`);
  }
}

const scopePattern =
  /^[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?(?::[0-9]+)?\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*$/;

function checkScopes(statements: readonly Statement[]): void {
  const seen = new Set<string>();
  for (const { name, registryScopes } of statements) {
    const statement = `trust policy statement ${quoted(name)}`;
    if (registryScopes.length === 0) {
      fail(`${statement} has zero registry scopes, it must specify registry scopes with at least one value`);
    }
    if (registryScopes.length > 1 && registryScopes.includes("*")) {
      const why = "a wildcard scope cannot be used in conjunction with other scope values";
      fail(`${statement} uses wildcard registry scope '*', ${why}`);
    }
    for (const scope of registryScopes) {
      if (scope !== "*" && !scopePattern.test(scope)) {
        const mend = "make sure it is a fully qualified repository without the scheme, protocol or tag";
        fail(`registry scope ${quoted(scope)} is not valid, ${mend}. For example domain.com/my/repository`);
      }
      if (seen.has(scope)) {
        const why = "one registry scope value can only be associated with one statement";
        fail(`registry scope ${quoted(scope)} is present in multiple trust policy statements, ${why}`);
      }
      seen.add(scope);
    }
  }
}

function fail(why: string): never {
  throw new SignatureFault(why);
}

function quoted(text: string): string {
  return JSON.stringify(cutText(text, maxQuotedBytes));
}
