/** The object that an event is about, as Kubernetes' ObjectReference. */
export interface InvolvedObject {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid?: string;
  readonly apiVersion?: string;
  readonly resourceVersion?: string;
  readonly fieldPath?: string;
}

/**
 * An event as Flux's controllers post it (statements 36 to 40, section 11 of the reference). `metadata` is as the emitter
 * wrote it: keys begin with the API group of the object or with `event.toolkit.fluxcd.io/`.
 */
export interface NotificationEvent {
  readonly involvedObject: InvolvedObject;
  /** `trace`, `info` or `error`; others are passed on as they are. */
  readonly severity: string;
  /** RFC 3339, whole seconds; empty if the emitter gave none. */
  readonly timestamp: string;
  readonly message: string;
  readonly reason: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly reportingController: string;
  readonly reportingInstance?: string;
}
