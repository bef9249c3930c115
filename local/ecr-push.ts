import { randomUUID } from "node:crypto";
import type { EcrImageAction } from "../functions/ingest.ts";
import type { Push } from "./registry/serve-manifests.ts";

/** Stands for this machine where ECR would name an account. */
export const localAccount = "000000000000";
const localRegion = "local";

/** The event that EventBridge would carry if the embedded registry were ECR. */
export function ecrPush(
  { repository, tag, digest }: Push,
  at: number,
): EcrImageAction & Readonly<Record<string, unknown>> {
  return {
    version: "0",
    id: randomUUID(),
    source: "aws.ecr",
    "detail-type": "ECR Image Action",
    account: localAccount,
    region: localRegion,
    time: new Date(at).toISOString(),
    resources: [],
    detail: {
      result: "SUCCESS",
      "action-type": "PUSH",
      "repository-name": repository,
      "image-digest": digest,
      "image-tag": tag,
    },
  };
}
