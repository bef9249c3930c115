import { StatusError } from "../api-object.ts";
import { methodNotAllowed, noSuchResource, notFound } from "./errors.ts";
import { sendPlain } from "./exchange.ts";
import { hasStatus } from "./resource.ts";
import type { ResourceRequest } from "./resource-request.ts";
import { serveObject } from "./serve-resource.ts";
import { serveScale } from "./serve-scale.ts";

const possible = new Set(["status", "scale"]);

/** Subresources of Pods and Nodes that would need a kubelet. */
const needKubelet = new Set(["log", "exec", "attach", "portforward", "proxy"]);

/** Serves what comes after an object's name. */
export async function serveSubresource(request: ResourceRequest, name: string, subresource: string): Promise<void> {
  const { exchange, resource, path } = request;
  const known = resource.subresources.find((one) => one.name === subresource);
  if (known === undefined) {
    // A custom resource could have these two: it is the object that has them not.
    if (resource.custom !== undefined && possible.has(subresource)) throw notFound(resource, name);
    if (resource.custom !== undefined) return sendPlain(exchange, 404, "404 page not found\n");
    throw noSuchResource();
  }
  if (path.rest.length > 0 && subresource !== "proxy") throw noSuchResource();
  if (subresource === "scale") return serveScale(request, name);
  if (needKubelet.has(subresource)) {
    const what = `${resource.plural}/${subresource}`;
    throw new StatusError(
      501,
      "NotImplemented",
      `the embedded cluster runs no containers, so ${what} is not available. Use a real cluster for it (sluice local --kubeconfig FILE)`,
    );
  }
  if (subresource === "status" && hasStatus(resource)) return serveObject(request, name);
  if (subresource === "finalize") return serveObject(request, name);
  if (!["PUT", "PATCH", "GET"].includes(exchange.method)) throw methodNotAllowed();
  return serveObject(request, name);
}
