import { HttpError } from "../../core/ports/http.ts";
import { PortError } from "../../core/ports/port-error.ts";

/**
 * `absent`: the repository has no such chart or version. `unauthorized`: the credentials or the certificate are not accepted.
 * `external`: anything else that keeps the repository from giving the chart.
 */
export type RepositoryFaultReason = "absent" | "external" | "unauthorized";

/** A repository of charts that does not give a chart, in Flux's words. */
export class RepositoryFault extends PortError<RepositoryFaultReason> {
  override readonly name = "RepositoryFault";
}

/** The fault that a `RangeError` or an error of the connection is, with `what` before its text; any other error unchanged. */
export function repositoryFault(error: unknown, what = ""): unknown {
  if (error instanceof RepositoryFault)
    return new RepositoryFault(error.reason, `${what}${error.message}`, { cause: error });
  if (error instanceof RangeError) return new RepositoryFault("external", `${what}${error.message}`, { cause: error });
  if (!(error instanceof HttpError)) return error;
  const reason = error.reason === "tls" ? "unauthorized" : "external";
  return new RepositoryFault(reason, `${what}${error.message}`, { cause: error });
}
