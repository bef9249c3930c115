/** Attributes of every message: subscribers and rules select by them. */
export interface TargetMessage {
  /** The namespace of the objects that send it: an installation lends its identity by namespace. */
  readonly namespace: string;
  readonly body: string;
  /** None is empty. */
  readonly attributes: Readonly<Record<string, string>>;
  /** A FIFO topic or queue delivers those of a group in order, and those with one id once. */
  readonly group: string;
  readonly id: string;
}

/** A message for a topic of SNS. */
export interface TopicMessage extends TargetMessage {
  readonly topicArn: string;
  /** ASCII without control characters, 100 characters at most. */
  readonly subject: string;
}

/** An event for a bus of EventBridge. */
export interface BusEvent extends Pick<TargetMessage, "namespace"> {
  readonly busArn: string;
  readonly detailType: string;
  /** JSON. */
  readonly detail: string;
  /** RFC 3339. */
  readonly time: string;
}

/** A message for a queue of SQS. */
export interface QueueMessage extends TargetMessage {
  /** `https://sqs.<region>.amazonaws.com/<account>/<name>`. */
  readonly queueUrl: string;
}

/**
 * Topics, buses and queues that notifications go to with our own identity. Each call throws where the installation does not lend it to the
 * namespace for this target, and where AWS does not take the message; one that throws may have been taken.
 */
export interface NotificationTargets {
  publish(message: TopicMessage, signal: AbortSignal): Promise<void>;
  putEvent(event: BusEvent, signal: AbortSignal): Promise<void>;
  send(message: QueueMessage, signal: AbortSignal): Promise<void>;
}
