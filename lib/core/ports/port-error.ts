/** What a port throws that tells several kinds of failure apart; the class that extends it says which. */
export abstract class PortError<Kind extends string> extends Error {
  readonly kind: Kind;

  constructor(kind: Kind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
