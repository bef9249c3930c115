import { z } from "zod";
import { bucketTopic } from "../../lib/core/topics.ts";
import { changeOf, Envelope, type Sender } from "./announcement.ts";

/** S3's own limits. */
export const maxBucketChars = 63;
export const maxObjectKeyChars = 1_024;

/** An event of S3, as far as it is read: https://docs.aws.amazon.com/AmazonS3/latest/userguide/ev-events.html */
const S3Event = Envelope.extend({
  source: z.literal("aws.s3"),
  detail: z.object({
    bucket: z.object({ name: z.string().min(1).max(maxBucketChars) }),
    object: z.object({ key: z.string().min(1).max(maxObjectKeyChars) }),
  }),
});

/** Objects that are created or deleted, by whatever means. */
export const s3: Sender = {
  source: "aws.s3",
  detailTypes: ["Object Created", "Object Deleted"],
  read(event) {
    const { bucket, object } = S3Event.parse(event).detail;
    return {
      topics: [bucketTopic(bucket.name)],
      change: changeOf({ name: object.key }),
      about: { bucket: bucket.name, object: object.key },
    };
  },
};
