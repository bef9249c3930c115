import type { HttpRequest, HttpResponse } from "./http.ts";

/** A port of a Service in a cluster. */
export interface ServiceAddress {
  readonly scheme: "http" | "https";
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** Reaches Services through the API server of their cluster, by its subresource `services/proxy` and with our own rights. */
export interface ServiceProxy {
  /**
   * The answer of the Service, whatever its status. Path, query, method, headers and body are those of the request; its `tls`, `proxy` and
   * `maxRedirects` do not count. No certificate of the Service is verified. Throws an `HttpError` if there is no answer, saying what is
   * missing: the Service, its endpoints or our right; or the reason `signal` was aborted with.
   */
  send(service: ServiceAddress, request: HttpRequest, signal: AbortSignal): Promise<HttpResponse>;
}
