import { z } from "zod";
import type { AwsConnection } from "../../lib/aws/aws-connection.ts";
import { type FaultyWire, faultyWire } from "../doubles/faulty-wire.ts";
import { ownPart } from "./own-part.ts";
import { account } from "./parts/account.ts";

const Printed = z.object({ aws: z.string() });

/** A moto of its own that checks the signature of each request and the policy of the role. */
export interface GuardedAws extends AsyncDisposable {
  /** Temporary credentials of a role, as a Lambda function has them. */
  readonly credentials: Readonly<Record<"accessKeyId" | "secretAccessKey" | "sessionToken", string>>;
  /** A connection with those credentials. */
  readonly connection: AwsConnection;
  /** Makes these actions all that the role may do. */
  allow(...actions: readonly string[]): Promise<void>;
  /** Runs a set-up that needs rights of its own, while no request is checked. */
  unguarded<Result>(work: (connection: AwsConnection) => Promise<Result>): Promise<Result>;
}

const role = "sluice";
const policy = "what-a-test-allows";

export async function guardedAws(): Promise<GuardedAws> {
  const part = await ownPart("aws", Printed);
  const { region, accessKeyId, secretAccessKey } = account;
  const credentials = await makeRole(part.aws);
  const wire = await jsonWire(part.aws);
  const check = async (isChecked: boolean): Promise<void> => {
    // How many more requests pass unchecked.
    await fetch(`${part.aws}/moto-api/reset-auth`, { method: "POST", body: isChecked ? "0" : "inf" });
  };
  await check(true);
  const unguarded: GuardedAws["unguarded"] = async (work) => {
    await check(false);
    try {
      return await work({ region, endpoint: part.aws, credentials: { accessKeyId, secretAccessKey } });
    } finally {
      await check(true);
    }
  };
  return {
    credentials,
    connection: { region, endpoint: wire.url, credentials },
    unguarded,
    allow: (...actions) =>
      unguarded(async () => {
        if (actions.length === 0) {
          await ask(part.aws, "iam", { Action: "DeleteRolePolicy", RoleName: role, PolicyName: policy });
          return;
        }
        const statement = { Effect: "Allow", Action: actions, Resource: "*" };
        const document = JSON.stringify({ Version: "2012-10-17", Statement: [statement] });
        const request = { RoleName: role, PolicyName: policy, PolicyDocument: document };
        await ask(part.aws, "iam", { Action: "PutRolePolicy", ...request });
      }),
    async [Symbol.asyncDispose]() {
      await wire[Symbol.asyncDispose]();
      await part[Symbol.asyncDispose]();
    },
  };
}

async function makeRole(url: string): Promise<GuardedAws["credentials"]> {
  const trust = JSON.stringify({ Version: "2012-10-17", Statement: [] });
  const created = await ask(url, "iam", { Action: "CreateRole", RoleName: role, AssumeRolePolicyDocument: trust });
  const session = { RoleArn: textIn(created, "Arn"), RoleSessionName: "test" };
  const assumed = await ask(url, "sts", { Action: "AssumeRole", ...session });
  return {
    accessKeyId: textIn(assumed, "AccessKeyId"),
    secretAccessKey: textIn(assumed, "SecretAccessKey"),
    sessionToken: textIn(assumed, "SessionToken"),
  };
}

/** For services whose clients we do not have; only while no request is checked. */
async function ask(url: string, service: "iam" | "sts", request: Readonly<Record<string, string>>): Promise<string> {
  const credential = `${account.accessKeyId}/20260101/us-east-1/${service}/aws4_request`;
  const authorization = `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=host, Signature=unchecked`;
  const Version = service === "iam" ? "2010-05-08" : "2011-06-15";
  const body = new URLSearchParams({ Version, ...request });
  const answer = await fetch(url, { method: "POST", body, headers: { authorization } });
  const text = await answer.text();
  // Removing a policy that does not exist is fine.
  if (answer.ok || request["Action"] === "DeleteRolePolicy") return text;
  throw new Error(`moto refuses ${request["Action"]}: ${text}`);
}

function textIn(xml: string, name: string): string {
  const text = new RegExp(`<${name}>([^<]*)<`).exec(xml)?.[1];
  if (text === undefined) throw new Error(`no ${name} in ${xml}`);
  return text;
}

/** The names that JSON services have for moto's refusals. */
const jsonNames: Readonly<Record<string, string>> = {
  AccessDenied: "AccessDeniedException",
  InvalidClientTokenId: "UnrecognizedClientException",
  SignatureDoesNotMatch: "InvalidSignatureException",
};

/** moto always refuses in XML: this turns a refusal into the form and name of JSON services. */
function jsonWire(url: string): Promise<FaultyWire> {
  return faultyWire(url, (request, _count, body) => {
    const speaksJson = request.headers["x-amz-target"] !== undefined || request.url?.startsWith("/clusters/") === true;
    if (!speaksJson) return "pass";
    return {
      onward: body.toString(),
      answerOf: (status, answer) => {
        if (status !== 403 || !answer.startsWith("<")) return answer;
        const code = textIn(answer, "Code");
        return JSON.stringify({ __type: jsonNames[code] ?? code, message: textIn(answer, "Message") });
      },
    };
  });
}
