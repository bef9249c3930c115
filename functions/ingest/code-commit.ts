import { z } from "zod";
import { domainOfRegion } from "../../lib/core/partitions.ts";
import { gitTopic } from "../../lib/core/topics.ts";
import { changeOf, Envelope, type Sender } from "./announcement.ts";

/** The limit for a repository's name, as in CodeCommit. */
export const maxRepositoryChars = 100;
/** Of a ref. */
export const maxRefChars = 1_024;

/** An event of CodeCommit, as far as it is read: https://docs.aws.amazon.com/codecommit/latest/userguide/monitoring-events.html */
const CodeCommitEvent = Envelope.extend({
  source: z.literal("aws.codecommit"),
  detail: z.object({
    event: z.string().max(maxRefChars),
    repositoryName: z
      .string()
      .max(maxRepositoryChars)
      .regex(/^[\w.-]+$/),
    referenceFullName: z.string().max(maxRefChars).optional(),
  }),
});

const moves: ReadonlySet<string> = new Set(["referenceCreated", "referenceUpdated", "referenceDeleted"]);
/** The hosts of a region: with and without validated cryptography. */
const hosts = ["git-codecommit", "git-codecommit-fips"];

/** Branches and tags that are created, moved or deleted. */
export const codeCommit: Sender = {
  source: "aws.codecommit",
  detailTypes: ["CodeCommit Repository State Change"],
  read(event) {
    const { region, detail } = CodeCommitEvent.parse(event);
    const { repositoryName: repository, referenceFullName: ref } = detail;
    if (!moves.has(detail.event)) return undefined;
    return {
      // The same for HTTPS and SSH.
      topics: hosts.map((host) =>
        gitTopic(`https://${host}.${region}.${domainOfRegion(region)}/v1/repos/${repository}`),
      ),
      change: changeOf({ name: ref }),
      about: { action: detail.event, repository, ref },
    };
  },
};
