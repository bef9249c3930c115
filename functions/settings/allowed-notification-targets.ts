/** ARNs of topics, buses and queues by namespace. */
export type AllowedNotificationTargets = Readonly<Record<string, readonly string[]>>;

/** Whether notifications of a namespace may use our identity for this target. Nothing is allowed that is not listed, to the last character. */
export function isAllowedNotificationTarget(
  allowed: AllowedNotificationTargets,
  namespace: string,
  arn: string,
): boolean {
  return Object.hasOwn(allowed, namespace) && (allowed[namespace] ?? []).includes(arn);
}

/** What may be done to the target of an ARN, by its service. */
const actions = { sns: "sns:Publish", events: "events:PutEvents", sqs: "sqs:SendMessage" } as const;

const patterns = [
  /^arn:aws[\w-]*:(sns):[a-z0-9-]+:[0-9]{12}:[\w-]{1,256}(?:\.fifo)?$/,
  /^arn:aws[\w-]*:(events):[a-z0-9-]+:[0-9]{12}:event-bus\/[\w./-]{1,256}$/,
  /^arn:aws[\w-]*:(sqs):[a-z0-9-]+:[0-9]{12}:[\w-]{1,80}(?:\.fifo)?$/,
];

/** Whether this names one topic of SNS, one bus of EventBridge or one queue of SQS. */
export function isNotificationTarget(arn: string): boolean {
  return patterns.some((pattern) => pattern.test(arn));
}

/**
 * The one action that a message to this target needs. Throws a `RangeError` for an ARN of anything else.
 *
 * @internal Exported for its tests and for the CDK app.
 */
export function actionOnNotificationTarget(arn: string): (typeof actions)[keyof typeof actions] {
  const service = patterns.map((pattern) => pattern.exec(arn)?.[1]).find((found) => found !== undefined);
  if (service === "sns" || service === "events" || service === "sqs") return actions[service];
  throw new RangeError(`"${arn}" is not the ARN of a topic, an event bus or a queue`);
}
