import { z } from "zod";

const namespaces = "must be a list of namespaces, such as [monitoring]";
const namespace = "must be the name of a namespace";
/** @internal Exported for its tests. */
export const maxServiceNamespaces = 100;

/** `notification-service-namespaces` and `canary-service-namespaces`: a tenant's Provider or Canary reaches the Services of each. */
export const ServiceNamespaces = z
  .array(z.string(namespace).regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, namespace), namespaces)
  .max(maxServiceNamespaces, `must not have more than ${maxServiceNamespaces} namespaces`);
