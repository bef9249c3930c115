/**
 * The one family of errors that ports throw. Code decides by `reason`, and people read the message. Each subclass lists its
 * reasons as a type. A flow turns such an error into a {@link Failure} of the object or into an {@link Outage}.
 */
export abstract class PortError<Reason extends string = string> extends Error {
  readonly reason: Reason;

  constructor(reason: Reason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
