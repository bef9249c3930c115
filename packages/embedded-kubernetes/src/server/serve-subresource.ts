import { StatusError } from "../core/api-object.ts";
import { hasStatus } from "../resource/resource.ts";
import { methodNotAllowed, noSuchResource, notFound } from "./errors.ts";
import type { ResourceRequest } from "./resource-request.ts";
import { serveObject } from "./serve-resource.ts";
import { serveScale } from "./serve-scale.ts";

/** Subresources of Pods and Nodes that would need a kubelet. */
const needKubelet = new Set(["log", "exec", "attach", "portforward", "proxy"]);

/** Serves what comes after an object's name. */
export async function serveSubresource(request: ResourceRequest, name: string, subresource: string): Promise<void> {
  const { exchange, resource, path } = request;
  const known = resource.subresources.find((one) => one.name === subresource);
  if (known === undefined) {
    // Any path below a custom resource is taken for one of its subresources.
    if (resource.custom !== undefined) throw notFound(resource, name);
    throw noSuchResource();
  }
  if (path.rest.length > 0 && subresource !== "proxy") throw noSuchResource();
  if (subresource === "scale") return serveScale(request, name);
  if (needKubelet.has(subresource)) {
    const what = `${resource.plural}/${subresource}`;
    throw new StatusError(
      501,
      "NotImplemented",
      `the embedded cluster runs no containers, so ${what} is not available. Use a real cluster for it`,
    );
  }
  if (subresource === "status" && hasStatus(resource)) return serveObject(request, name);
  if (subresource === "finalize") return serveObject(request, name);
  if (!["PUT", "PATCH", "GET"].includes(exchange.method)) throw methodNotAllowed();
  return serveObject(request, name);
}
