import { z } from "zod";
import { declaredKinds } from "../../lib/api/kinds/declared-kinds.ts";
import { bucketTopic, gitTopic, repositoryTopic } from "../../lib/core/topics.ts";
import { ClusterId } from "../../lib/core/work-key.ts";
import { parseRepositoryUrl } from "../../lib/sources/oci/repository-url.ts";
import { type Announcement, changeOf, Envelope, type Sender } from "./announcement.ts";

/** The limit for an address, a ref, a tag and a key. */
export const maxCustomChars = 1_024;

const text = z.string().min(1).max(maxCustomChars);
const objectName = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/, "must be the name of an object");

/** What the detail of an event of one's own says (docs/events.md). It names one thing that may have changed. */
export const CustomDetail = z.union([
  z.strictObject({
    object: z.strictObject({
      cluster: ClusterId,
      kind: z
        .string()
        .max(maxCustomChars)
        .refine((kind) => sourceKind(kind) !== undefined, "must be a kind of source that Sluice reconciles"),
      namespace: objectName,
      name: objectName,
    }),
  }),
  z.strictObject({ git: z.strictObject({ url: text, ref: text.regex(/^refs\//, "must be a whole ref").optional() }) }),
  z.strictObject({ oci: z.strictObject({ url: text, tag: text.optional(), digest: text.optional() }) }),
  z.strictObject({ bucket: z.strictObject({ name: text, key: text.optional() }) }),
]);
type CustomDetail = z.infer<typeof CustomDetail>;

export const customSource = "sluice";
export const customDetailType = "Source Changed";

const CustomEvent = Envelope.extend({ detail: CustomDetail });

/** Events of one's own, by `aws events put-events`. */
export const custom: Sender = {
  source: customSource,
  detailTypes: [customDetailType],
  read: (event) => announced(CustomEvent.parse(event).detail),
};

function announced(detail: CustomDetail): Announcement | undefined {
  if ("git" in detail) {
    const { url, ref } = detail.git;
    const topic = gitTopic(url);
    return { topics: [topic], change: changeOf({ name: ref }), about: { topic, ref } };
  }
  if ("oci" in detail) {
    const { url, tag, digest } = detail.oci;
    const { host, repository } = parseRepositoryUrl(url);
    const topic = repositoryTopic(host, repository);
    return { topics: [topic], change: changeOf({ name: tag, digest }), about: { topic, tag, digest } };
  }
  if ("bucket" in detail) {
    const topic = bucketTopic(detail.bucket.name);
    return { topics: [topic], change: changeOf({ name: detail.bucket.key }), about: { topic } };
  }
  const { object } = detail;
  const group = sourceKind(object.kind)?.group;
  return group === undefined ? undefined : { topics: [], change: {}, object: { ...object, group }, about: object };
}

function sourceKind(kind: string) {
  return declaredKinds.find((declared) => declared.isSource && declared.kind === kind);
}
