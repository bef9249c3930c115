import { z } from "zod";

const namespaces = "must be a list of namespaces, such as [monitoring]";
const namespace = "must be the name of a namespace";
const maxNamespaces = 100;

/** `notification-service-namespaces`: a tenant's Provider reaches the Services of each. */
export const ServiceNamespaces = z
  .array(z.string(namespace).regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, namespace), namespaces)
  .max(maxNamespaces, `must not have more than ${maxNamespaces} namespaces`);
