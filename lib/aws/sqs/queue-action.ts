import type { AwsAction } from "../aws-fault.ts";

/** A queue and where it lies. */
export interface Queue {
  /** `https://sqs.<region>.amazonaws.com/<account>/<name>`. */
  readonly url: string;
  readonly region: string;
}

/** What a call asks of a queue. Its URL says whose it is. */
export function queueAction(name: string, { url, region }: Queue): AwsAction {
  return { name, resource: `queue ${url}`, region, account: /\/([0-9]{12})\/[^/]+$/.exec(url)?.[1] };
}
