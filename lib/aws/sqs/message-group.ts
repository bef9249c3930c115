import { digestOf } from "../../core/digest.ts";

const allowed = /^[!-~]{1,128}$/;

/**
 * The message group of a work key's text: its cluster, so that on a standard queue (fair queues) a cluster with a flood of
 * messages does not hold up the others. A name that SQS does not take is stood for by its digest.
 */
export function messageGroup(key: string): string {
  const [cluster = ""] = key.split("/", 1);
  return allowed.test(cluster) ? cluster : digestOf(cluster);
}
