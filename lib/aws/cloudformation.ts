import { Sha256 } from "@aws-crypto/sha256-js";
import { defaultProvider } from "@aws-sdk/credential-provider-node";
import { HttpRequest } from "@smithy/protocol-http";
import { SignatureV4 } from "@smithy/signature-v4";
import { domainOfRegion } from "../core/partitions.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { AwsConnection } from "./aws-connection.ts";
import { AwsFault } from "./aws-fault.ts";
import { callAws } from "./call-aws.ts";

/**
 * Asks for the status of a stack, `UPDATE_IN_PROGRESS`, by its ARN. One signed request, the only one that goes to CloudFormation: its
 * client is as large as the function.
 *
 * @throws AwsFault if there is no answer
 */
export function stackStatus(
  clock: Pick<Clock, "now" | "sleep">,
  { credentials = defaultProvider(), endpoint }: Pick<AwsConnection, "credentials" | "endpoint"> = {},
): (stack: string, signal: AbortSignal) => Promise<string> {
  return async (stack, signal) => {
    const [, , , region = "", account] = stack.split(":");
    const action = { name: "cloudformation:DescribeStacks", resource: `stack ${stack}`, region, account };
    const url = new URL(endpoint ?? `https://cloudformation.${region}.${domainOfRegion(region)}`);
    const body = new URLSearchParams({ Action: "DescribeStacks", Version: "2010-05-15", StackName: stack }).toString();
    const signer = new SignatureV4({ credentials, region, service: "cloudformation", sha256: Sha256 });
    const ask = async ({ abortSignal }: { readonly abortSignal: AbortSignal }) => {
      const { headers } = await signer.sign(
        new HttpRequest({
          method: "POST",
          protocol: url.protocol,
          hostname: url.hostname,
          path: "/",
          headers: { host: url.host, "content-type": "application/x-www-form-urlencoded" },
          body,
        }),
        { signingDate: new Date(clock.now()) },
      );
      const answer = await fetch(url, { method: "POST", headers, body, signal: abortSignal });
      const text = await answer.text();
      if (answer.ok) {
        const status = /<StackStatus>([A-Z_]+)<\/StackStatus>/.exec(text)?.[1];
        if (status !== undefined) return status;
        throw new AwsFault("unavailable", "", `${action.name} on ${action.resource}: AWS's answer cannot be read`);
      }
      const error = new Error(/<Message>([^<]*)<\/Message>/.exec(text)?.[1] ?? `HTTP status ${answer.status}`);
      error.name = /<Code>([^<]*)<\/Code>/.exec(text)?.[1] ?? "";
      throw Object.assign(error, {
        $metadata: { httpStatusCode: answer.status },
        $response: { headers: Object.fromEntries(answer.headers) },
      });
    };
    for (let attempt = 1; ; attempt++) {
      try {
        return await callAws(action, ask, signal);
      } catch (error) {
        const mayWorkLater = error instanceof AwsFault && transient.includes(error.reason);
        if (!mayWorkLater || attempt === tries) throw error;
        await clock.sleep(pauseMs * attempt, signal);
      }
    }
  };
}

const tries = 4;
const pauseMs = 1_000;
const transient = ["throttled", "timeout", "unavailable", "unreachable"];
