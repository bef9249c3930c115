/**
 * A delivery that is not authentic, or whose payload is not what its type has: answered 400. The message is for the log. It
 * holds no token and nothing of a body.
 */
export class RequestRefused extends Error {
  override readonly name = "RequestRefused";
}
