import { z } from "zod";
import type { Deployed } from "./deploy-into-moto.ts";

/** How moto is asked for all of a kind that a stack makes, and where names are in the answer. */
const lists = [
  { service: "cloudformation", body: "Action=DescribeStacks&Version=2010-05-15", name: /<StackName>([^<]+)</g },
  { service: "iam", body: "Action=ListRoles&Version=2010-05-08&MaxItems=1000", name: /<RoleName>([^<]+)</g },
  { service: "sns", body: "Action=ListTopics&Version=2010-03-31", name: /<TopicArn>([^<]+)</g },
  { service: "sqs", target: "AmazonSQS.ListQueues", name: /"(https?:[^"]+)"/g },
  { service: "dynamodb", target: "DynamoDB_20120810.ListTables", name: /"([^"]+)"(?=[,\]])/g },
  { service: "secretsmanager", target: "secretsmanager.ListSecrets", name: /"Name": ?"([^"]+)"/g },
  { service: "logs", target: "Logs_20140328.DescribeLogGroups", name: /"logGroupName": ?"([^"]+)"/g },
  { service: "events", target: "AWSEvents.ListRules", name: /"Name": ?"([^"]+)"/g },
  { service: "lambda", path: "/2015-03-31/functions", name: /"FunctionName": ?"([^"]+)"/g },
  { service: "lambda", path: "/2015-03-31/event-source-mappings/", name: /"UUID": ?"([^"]+)"/g },
  { service: "s3", path: "/", name: /<Bucket><Name>([^<]+)</g },
] as const satisfies readonly {
  readonly service: string;
  readonly body?: string;
  readonly target?: string;
  readonly path?: string;
  readonly name: RegExp;
}[];

/** What `cdk bootstrap` has made, which outlives every stack. */
const ofBootstrap = /cdk-hnb659fds-|CDKToolkit/;

/** All that is in a moto beside what `cdk bootstrap` makes, as `<service> <name>`. */
export async function whatIsThere({ endpoint, region }: Deployed["aws"]): Promise<readonly string[]> {
  const found = await Promise.all(lists.map((list) => listed(list, endpoint, region)));
  return found
    .flat()
    .filter((one) => !ofBootstrap.test(one))
    .toSorted();
}

async function listed(
  { service, name, ...how }: (typeof lists)[number],
  endpoint: string,
  region: string,
): Promise<readonly string[]> {
  const authorization = `AWS4-HMAC-SHA256 Credential=x/20260101/${region}/${service}/aws4_request, SignedHeaders=host, Signature=x`;
  const {
    body,
    path = "/",
    target,
  } = z.object({ body: z.string().optional(), path: z.string().optional(), target: z.string().optional() }).parse(how);
  const answer = await fetch(endpoint + path, {
    ...(path === "/" && service !== "s3" ? { method: "POST", body: body ?? "{}" } : {}),
    headers: {
      authorization,
      ...(body === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" }),
      ...(target === undefined ? {} : { "content-type": "application/x-amz-json-1.0", "x-amz-target": target }),
    },
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${service} ${target ?? body ?? path}: ${answer.status} ${text}`);
  return [...text.matchAll(name)].map(([, one = ""]) => `${service} ${one}`);
}
