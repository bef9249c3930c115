import type { Resource } from "../resource/resource.ts";
import type { Cluster } from "./cluster.ts";
import type { Exchange } from "./exchange.ts";
import type { RequestPath } from "./request-path.ts";

/** A request for a resource that exists; its verb and what it accepts are still to be judged. */
export interface ResourceRequest {
  readonly exchange: Exchange;
  readonly cluster: Cluster;
  readonly resource: Resource;
  readonly path: RequestPath;
}
