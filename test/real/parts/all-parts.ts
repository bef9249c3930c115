import type { Part, PartName } from "../part.ts";
import { aws } from "./aws.ts";
import { controlPlane } from "./control-plane.ts";
import { dynamodb } from "./dynamodb.ts";
import { eks } from "./eks.ts";
import { prometheus } from "./prometheus.ts";
import { registry } from "./registry.ts";
import { s3 } from "./s3.ts";
import { sqs } from "./sqs.ts";

/** In the order in which they are installed: the slowest first. */
const all: Readonly<Record<PartName, Part>> = {
  "control-plane": controlPlane,
  eks,
  registry,
  prometheus,
  s3,
  aws,
  dynamodb,
  sqs,
};
export const allParts: readonly Part[] = Object.values(all);
