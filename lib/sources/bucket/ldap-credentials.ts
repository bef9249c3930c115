import { Secret } from "../../core/secret.ts";
import { ask, maxAnswerBytes, type Way } from "./bounded-requests.ts";
import { BucketFault } from "./object-store.ts";
import type { Phase } from "./phase.ts";
import { notOfApi, statusText, xmlOf } from "./provider-answers.ts";
import { childOf, textOf } from "./read-xml.ts";
import type { S3Credentials } from "./sign-request.ts";

/** An LDAP user of a server that gives temporary credentials for its buckets. */
export interface LdapUser {
  readonly username: string;
  readonly password: Secret;
}

/**
 * Temporary credentials for an LDAP user (`AssumeRoleWithLDAPIdentity`, as minio's server has it). Throws a {@link BucketFault} that
 * holds no credential.
 */
export async function ldapCredentials(
  endpoint: string,
  { username, password }: LdapUser,
  way: Way,
  phase: Phase,
): Promise<S3Credentials> {
  const form = new URLSearchParams({
    Action: "AssumeRoleWithLDAPIdentity",
    Version: "2011-06-15",
    LDAPUsername: username,
    LDAPPassword: password.reveal(),
  });
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const body = Buffer.from(form.toString());
  const request = { method: "POST", url: endpoint, headers, body, isSafe: true, maxBytes: maxAnswerBytes } as const;
  const answer = await ask(way, request, phase);
  if (answer.status !== 200)
    throw new BucketFault("answer", `the STS endpoint refuses the user: ${statusText(answer.status)}`);
  const result = childOf(xmlOf(answer), "AssumeRoleWithLDAPIdentityResult");
  const given = result === undefined ? undefined : childOf(result, "Credentials");
  if (given === undefined) throw notOfApi("it holds no credentials");
  const [accessKeyId, secretAccessKey, sessionToken] = ["AccessKeyId", "SecretAccessKey", "SessionToken"].map((name) =>
    textOf(given, name),
  );
  if (!accessKeyId || !secretAccessKey) throw notOfApi("it holds no credentials");
  return {
    accessKeyId,
    secretAccessKey: new Secret(secretAccessKey),
    ...(sessionToken ? { sessionToken: new Secret(sessionToken) } : {}),
  };
}
