import type { Credentials, STSClient } from "@aws-sdk/client-sts";
import type { Clock } from "../core/ports/clock.ts";
import type { KeyIdentity } from "../core/ports/data-keys.ts";
import { type AwsConnection, clientConfig } from "./aws-connection.ts";
import { type AwsAction, AwsFault } from "./aws-fault.ts";
import { callAws } from "./call-aws.ts";

/** An hour is the maximum for a role that another role has assumed, such as a function's. */
const durationSeconds = 3_600;
/** A cluster takes a token for 15 minutes, if the credentials that signed it last as long. */
const renewBeforeMs = 15 * 60_000;
/** The longest name of a session. */
const maxSessionChars = 64;

interface Session {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  readonly expiration: Date;
}

/**
 * Our identity in another account: STS issues credentials of a role there for our own credentials. They are kept until 15 minutes before
 * their end and shared by concurrent callers. Throws an {@link AwsFault} that names the role and what to allow, never a credential.
 *
 * @param role `arn:<partition>:iam::<account>:role/<name>`
 */
export function assumedRole(
  role: string,
  connection: AwsConnection,
  clock: Pick<Clock, "now">,
): () => Promise<Session> {
  return keptSession("sts:AssumeRole", role, { connection, clock }, async (sts, options) => {
    const { AssumeRoleCommand } = await import("@aws-sdk/client-sts");
    const command = new AssumeRoleCommand({
      RoleArn: role,
      RoleSessionName: "sluice",
      DurationSeconds: durationSeconds,
    });
    return sts.send(command, options);
  });
}

/**
 * The identity of a service account (IRSA): STS issues credentials of its role for a token that the cluster has issued. The request is not
 * signed: our own identity has no part in it. Kept and faulty as those of {@link assumedRole}.
 */
export function accountRole(
  { role, name, namespace, token }: Extract<KeyIdentity, { kind: "account" }>,
  { region, endpoint }: AwsConnection,
  clock: Pick<Clock, "now">,
): () => Promise<Session> {
  // Without a search for our own credentials, which a request that is not signed does not need.
  const connection = { region, endpoint, credentials: { accessKeyId: "none", secretAccessKey: "none" } };
  return keptSession("sts:AssumeRoleWithWebIdentity", role, { connection, clock }, async (sts, options) => {
    const { AssumeRoleWithWebIdentityCommand } = await import("@aws-sdk/client-sts");
    const command = new AssumeRoleWithWebIdentityCommand({
      RoleArn: role,
      RoleSessionName: `${name}.${namespace}.${region}.sluice`.slice(0, maxSessionChars),
      WebIdentityToken: (await token()).reveal(),
      DurationSeconds: durationSeconds,
    });
    return sts.send(command, options);
  });
}

function keptSession(
  name: AwsAction["name"],
  role: string,
  { connection, clock }: { readonly connection: AwsConnection; readonly clock: Pick<Clock, "now"> },
  askSts: (
    sts: STSClient,
    options: { readonly abortSignal: AbortSignal },
  ) => Promise<{ readonly Credentials?: Credentials | undefined }>,
): () => Promise<Session> {
  let client: STSClient | undefined;
  let kept: Session | undefined;
  let asking: Promise<Session> | undefined;

  const ask = async (): Promise<Session> => {
    // Few installations reach into another account.
    const { STSClient } = await import("@aws-sdk/client-sts");
    const sts = (client ??= new STSClient(clientConfig(connection)));
    const account = /^arn:[^:]*:iam::([0-9]{12}):/.exec(role)?.[1];
    const action = { name, resource: `role ${role}`, region: connection.region, account };
    const { signal } = new AbortController();
    const { Credentials: given } = await callAws(action, (options) => askSts(sts, options), signal);
    const { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, SessionToken: sessionToken } = given ?? {};
    const expiration = given?.Expiration;
    if (
      accessKeyId === undefined ||
      secretAccessKey === undefined ||
      sessionToken === undefined ||
      expiration === undefined
    ) {
      throw new AwsFault("refused", "", `${action.name} on ${action.resource}: the answer holds no credentials`);
    }
    kept = { accessKeyId, secretAccessKey, sessionToken, expiration };
    return kept;
  };
  return async () => {
    if (kept !== undefined && kept.expiration.getTime() - renewBeforeMs > clock.now()) return kept;
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking;
  };
}
