import { z } from "zod";
import { limitedList } from "../core/validation.ts";
import { parseBody } from "./delivery.ts";
import { RequestRefused } from "./request-refused.ts";

/**
 * The events of CDEvents 0.4.1 as Flux accepts them (github.com/cdevents/sdk-go v0.5.0): it reads an event into the fields that it
 * knows, and checks what it has read. So unknown fields are no fault, and null or an empty text is the same as no field.
 */

/** `pkg:type/namespace/name@version?key=value#subpath`, where type and name have to be there. */
const packageUrlShape =
  /^pkg:\/*[^/?#]+\/(?:[^?#]*\/)?[^/@?#][^/?#]*(?:\?[A-Za-z][\w.-]*=[^&#]*(?:&[A-Za-z][\w.-]*=[^&#]*)*)?(?:#.*)?$/;

/** Entries of each list of an event, which is checked entry by entry. CDEvents and Flux have no limit. */
export const maxListEntries = 1_000;

const text = z.string().nullish();
const filled = z.string().min(1);
const texts = limitedList(text, maxListEntries).nullish();
const uriReference = z.string().refine(isUriReference);
const packageUrl = z.string().refine((url) => packageUrlShape.test(url));

function oneOf(...values: readonly string[]) {
  return z.enum(values);
}
/** As {@link oneOf}, or absent. */
function maybe(...values: readonly string[]) {
  return z.enum(["", ...values]).nullish();
}

const reference = z.object({ id: filled, source: text });
const repository = { repository: reference.nullish() };
const outcome = oneOf("pass", "fail", "cancel", "error");
const severity = maybe("low", "medium", "high", "critical");
const trigger = z.object({ type: maybe("manual", "pipeline", "event", "schedule", "other"), uri: text }).nullish();
const testKinds = ["performance", "functional", "unit", "security", "compliance", "integration", "e2e", "other"];
const testCase = z.object({ id: filled, version: text, name: text, type: maybe(...testKinds), uri: text }).nullish();
const testSuite = z.object({ id: filled, version: text, name: text, uri: text, url: text }).nullish();
const testCaseRun = { environment: reference, testSuiteRun: reference.nullish(), testCase };
const incident = { description: text, environment: reference, service: reference.nullish(), artifactId: packageUrl };
const deployment = { environment: reference, artifactId: packageUrl };
const environment = { name: text, url: text };
const pipelineRun = { pipelineName: text, url: text, outcome: text, errors: text };
const repositoryNames = { name: text, owner: text, url: text, viewUrl: text };
const taskRun = { taskName: text, url: text, pipelineRun: reference.nullish(), outcome: text, errors: text };
const ticket = {
  summary: text,
  ticketType: text,
  group: text,
  creator: text,
  assignees: texts,
  priority: text,
  labels: texts,
  milestone: text,
  uri: filled,
  resolution: text,
  updatedBy: text,
};
const sbom = z.object({ uri: filled }).nullish();

/** By type: `dev.cdevents.<subject>.<predicate>.<version>`. The name of a subject has capitals in `subject.type` alone. */
const contents: Readonly<Record<string, z.ZodRawShape>> = {
  "artifact.deleted.0.1.0": { user: text },
  "artifact.downloaded.0.1.0": { user: text },
  "artifact.packaged.0.2.0": { change: reference, sbom },
  "artifact.published.0.2.0": { sbom, user: text },
  "artifact.signed.0.2.0": { signature: filled },
  "branch.created.0.2.0": repository,
  "branch.deleted.0.2.0": repository,
  "build.finished.0.2.0": { artifactId: packageUrl },
  "build.queued.0.2.0": {},
  "build.started.0.2.0": {},
  "change.abandoned.0.2.0": repository,
  "change.created.0.3.0": { ...repository, description: text },
  "change.merged.0.2.0": repository,
  "change.reviewed.0.2.0": repository,
  "change.updated.0.2.0": repository,
  "environment.created.0.2.0": environment,
  "environment.deleted.0.2.0": { name: text },
  "environment.modified.0.2.0": environment,
  "incident.detected.0.2.0": incident,
  "incident.reported.0.2.0": { ...incident, ticketURI: filled },
  "incident.resolved.0.2.0": incident,
  "pipelineRun.finished.0.2.0": pipelineRun,
  "pipelineRun.queued.0.2.0": { pipelineName: text, url: text },
  "pipelineRun.started.0.2.0": { pipelineName: text, url: text },
  "repository.created.0.2.0": { ...repositoryNames, name: filled, url: filled },
  "repository.deleted.0.2.0": repositoryNames,
  "repository.modified.0.2.0": repositoryNames,
  "service.deployed.0.2.0": deployment,
  "service.published.0.2.0": { environment: reference.nullish() },
  "service.removed.0.2.0": { environment: reference.nullish() },
  "service.rolledback.0.2.0": deployment,
  "service.upgraded.0.2.0": deployment,
  "taskRun.finished.0.2.0": taskRun,
  "taskRun.started.0.2.0": { taskName: text, url: text, pipelineRun: reference.nullish() },
  "testCaseRun.finished.0.2.0": { ...testCaseRun, outcome, severity, reason: text },
  "testCaseRun.queued.0.2.0": { ...testCaseRun, trigger },
  "testCaseRun.skipped.0.1.0": { ...testCaseRun, environment: reference.nullish(), reason: text },
  "testCaseRun.started.0.2.0": { ...testCaseRun, trigger },
  "testOutput.published.0.2.0": {
    outputType: oneOf("report", "video", "image", "log", "other"),
    format: text,
    uri: text,
    testCaseRun: reference.nullish(),
  },
  "testSuiteRun.finished.0.2.0": { environment: reference, testSuite, outcome, severity, reason: text },
  "testSuiteRun.queued.0.2.0": { environment: reference, testSuite, trigger },
  "testSuiteRun.started.0.2.0": { environment: reference, testSuite, trigger },
  "ticket.closed.0.1.0": { ...ticket, resolution: filled },
  "ticket.created.0.1.0": { ...ticket, creator: filled },
  "ticket.updated.0.1.0": ticket,
};

const customType = /^dev\.cdeventsx\.[a-z]+-[a-z]+\.[a-z]+\.\d\.\d\.\d$/;

const tagged = { tags: z.object({}) };
const event = z.object({ contextId: filled });
const Link = z.union([
  z.object({ linkType: z.enum(["END", "PATH"]), from: event, ...tagged }),
  z.object({ linkType: z.literal("RELATION"), linkKind: filled, target: event, ...tagged }),
]);

const Context = z.object({
  version: filled,
  specversion: text,
  id: filled,
  source: filled.and(uriReference),
  // Go reads a missing one as the year 1.
  timestamp: z.iso.datetime({ offset: true }).nullish(),
  chainId: text,
  // Flux has no schemas of its own beside those of CDEvents.
  schemaUri: z.literal("").nullish(),
  links: limitedList(Link, maxListEntries).nullish(),
});

function eventSchema(subjectType: z.ZodType, content: z.ZodType) {
  return z.object({
    context: Context,
    subject: z.object({
      id: filled,
      source: uriReference.nullish(),
      type: subjectType,
      content,
    }),
    customData: z.union([z.object({}), z.string()]).nullish(),
    customDataContentType: text,
  });
}

const schemas = new Map(
  Object.entries(contents).map(([name, fields]) => {
    const subject = name.slice(0, name.indexOf("."));
    const content = z.preprocess((value) => value ?? {}, z.object(fields));
    return [`dev.cdevents.${name.toLowerCase()}`, eventSchema(z.literal(subject), content)];
  }),
);
const customSchema = eventSchema(z.string().regex(/^[a-zA-Z0-9]+-[a-zA-Z]+$/), z.object({}));
const Typed = z.object({ context: z.object({ type: z.string() }) });

/** Checks the body of a delivery to a Receiver of type `cdevents`. @throws RequestRefused that names the field */
export function checkCdEvent(body: Uint8Array): void {
  const failed = (why: string): RequestRefused => new RequestRefused(`unable to validate CDEvent event: ${why}`);
  const read = parseBody(body);
  if ("fault" in read) throw failed(`it ${read.fault}`);
  const { value: json } = read;
  const typed = Typed.safeParse(json);
  if (!typed.success) throw failed("it has no context.type");
  const { type } = typed.data.context;
  const schema = schemas.get(type) ?? (customType.test(type) ? customSchema : undefined);
  if (schema === undefined) throw failed("context.type is not one of CDEvents 0.4.1");
  const { error } = schema.safeParse(json);
  const [issue] = error?.issues ?? [];
  if (issue !== undefined) throw failed(`${issue.path.join(".") || "it"} is not as its schema says`);
}

/** What Go's `url.Parse` takes. */
function isUriReference(value: string): boolean {
  return !/^:|%(?![0-9a-f]{2})|\p{Cc}/iu.test(value);
}
