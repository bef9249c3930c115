import { z } from "zod";
import type { Deployed } from "./deploy-into-moto.ts";

/** What the stack made of a function, as Lambda tells of it. */
const DeployedFunction = z.object({
  FunctionName: z.string(),
  Description: z.string(),
  Handler: z.string(),
  MemorySize: z.int(),
  Timeout: z.int(),
  Runtime: z.string(),
  Environment: z.object({ Variables: z.record(z.string(), z.string()) }),
});
export type DeployedFunction = z.infer<typeof DeployedFunction>;

const Mapping = z.object({
  UUID: z.string(),
  BatchSize: z.int(),
  EventSourceArn: z.string(),
  FunctionArn: z.string(),
  FunctionResponseTypes: z.array(z.string()),
  ScalingConfig: z.object({ MaximumConcurrency: z.int() }),
});

const RuleFound = z.object({
  Name: z.string(),
  EventPattern: z.string().optional(),
  ScheduleExpression: z.string().optional(),
});
const Target = z.looseObject({ Arn: z.string(), Input: z.string().optional() });

interface MotoRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Lambda and EventBridge of a moto; it reads only the service from a signature. */
export function askMoto({ endpoint, region }: Deployed["aws"]) {
  const ask = async <Answer>(service: string, path: string, answer: z.ZodType<Answer>, request: MotoRequest = {}) => {
    const scope = `x/20260101/${region}/${service}/aws4_request`;
    const authorization = `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=x`;
    const response = await fetch(endpoint + path, { ...request, headers: { ...request.headers, authorization } });
    const text = await response.text();
    if (!response.ok) throw new Error(`${service}${path}: ${response.status} ${text}`);
    return answer.parse(JSON.parse(text));
  };
  const events = <Answer>(action: string, body: object, answer: z.ZodType<Answer>) => {
    const headers = { "content-type": "application/x-amz-json-1.1", "x-amz-target": `AWSEvents.${action}` };
    return ask("events", "/", answer, { method: "POST", headers, body: JSON.stringify(body) });
  };
  return {
    async functions() {
      const all = await ask("lambda", "/2015-03-31/functions", z.object({ Functions: z.array(DeployedFunction) }));
      return new Map(all.Functions.map((one) => [one.Description.replace("Sluice: ", ""), one]));
    },
    async mappings() {
      const answer = z.object({ EventSourceMappings: z.array(Mapping) });
      return (await ask("lambda", "/2015-03-31/event-source-mappings/", answer)).EventSourceMappings;
    },
    /** moto would answer for the functions itself. */
    async disableMapping(id: string) {
      const body = JSON.stringify({ Enabled: false });
      await ask("lambda", `/2015-03-31/event-source-mappings/${id}`, z.unknown(), { method: "PUT", body });
    },
    async rules() {
      const { Rules } = await events("ListRules", {}, z.object({ Rules: z.array(RuleFound) }));
      return Promise.all(
        Rules.map(async (rule) => {
          const { Targets } = await events(
            "ListTargetsByRule",
            { Rule: rule.Name },
            z.object({ Targets: z.array(Target) }),
          );
          return { ...rule, targets: Targets };
        }),
      );
    },
    async putEvent(event: object) {
      const { FailedEntryCount } = await events(
        "PutEvents",
        { Entries: [event] },
        z.object({ FailedEntryCount: z.int() }),
      );
      if (FailedEntryCount > 0) throw new Error("the bus has refused the event");
    },
  };
}
