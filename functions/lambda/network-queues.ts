import type { Queue } from "../../lib/aws/sqs.ts";
import type { Config } from "../settings/config.ts";
import type { Installation } from "../settings/installation.ts";

type QueueConfig = Pick<Config, "AWS_REGION" | "SLUICE_QUEUE_URLS">;

/** The queue of the function that reconciles the clusters of its network. */
export function queueOfNetwork(config: QueueConfig & Pick<Config, "SLUICE_NETWORK">): Queue {
  const url = config.SLUICE_QUEUE_URLS[config.SLUICE_NETWORK];
  if (url === undefined) throw new RangeError("SLUICE_NETWORK must be one of the networks of SLUICE_QUEUE_URLS");
  return { url, region: config.AWS_REGION };
}

/** The queue that takes the messages about a cluster. */
export type QueueOfCluster = (cluster: string, signal: AbortSignal) => Promise<Queue>;

/**
 * The queue of a cluster is that of its network. Where there is one network the document is not read. What is for a cluster that
 * the document does not name goes to the first queue, whose function does nothing about it.
 */
export function queueOfCluster(
  { AWS_REGION: region, SLUICE_QUEUE_URLS }: QueueConfig,
  document: (signal: AbortSignal) => Promise<Pick<Installation, "clusters">>,
): QueueOfCluster {
  const queues = new Map(Object.entries(SLUICE_QUEUE_URLS).map(([network, url]) => [network, { url, region }]));
  const [first] = queues.values();
  if (first === undefined) throw new RangeError("there is no queue of wake-ups");
  if (queues.size === 1) return async () => first;
  return async (id, signal) => {
    const { clusters } = await document(signal);
    return queues.get(clusters.find(({ arn }) => arn === id)?.network ?? "") ?? first;
  };
}
