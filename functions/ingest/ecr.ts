import { z } from "zod";
import { ecrHost } from "../../lib/core/ecr-registry.ts";
import { repositoryTopic } from "../../lib/core/topics.ts";
import { changeOf, Envelope, type Sender } from "./announcement.ts";

/** The limit for a repository's name, a tag and a digest, in characters, as in ECR. */
export const maxEcrNameChars = 256;

const name = z.string().max(maxEcrNameChars);

/**
 * An event of ECR, as far as it is read: https://docs.aws.amazon.com/AmazonECR/latest/userguide/ecr-eventbridge.html
 * A replication tells of it in the account and region that it has reached.
 */
export const EcrAction = Envelope.extend({
  source: z.literal("aws.ecr"),
  detail: z.object({
    "action-type": name,
    result: name,
    "repository-name": name.min(1),
    "image-digest": name.optional(),
    "image-tag": name.optional(),
  }),
});
export type EcrAction = z.infer<typeof EcrAction>;

const actions: ReadonlySet<string> = new Set(["PUSH", "DELETE", "REPLICATE"]);

/** Pushes, deletions and replications. An event without a tag may concern any tag: a push by digest alone, or the removal of an image. */
export const ecr: Sender = {
  source: "aws.ecr",
  detailTypes: ["ECR Image Action", "ECR Replication Action"],
  read(event, { registryHosts }) {
    const { account, region, detail } = EcrAction.parse(event);
    const { "action-type": action, "repository-name": repository, "image-tag": tag, "image-digest": digest } = detail;
    if (!actions.has(action) || detail.result !== "SUCCESS") return undefined;
    return {
      topics: registryHosts(account, region).map((host) => repositoryTopic(host, repository)),
      change: changeOf({ name: tag, digest }),
      about: { action, repository, tag, digest },
    };
  },
};

/** The usual host: a source that names another host of the registry subscribes to the same topic. */
export function ecrHosts(account: string, region: string): readonly string[] {
  return [ecrHost({ account, region })];
}
