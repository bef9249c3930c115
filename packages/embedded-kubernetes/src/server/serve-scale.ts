import type { ApiObject } from "../core/api-object.ts";
import { isJsonObject, type Json } from "../core/json.ts";
import { builtinSchema } from "../schema/builtin-schema.ts";
import { negotiate } from "./accept.ts";
import type { Written } from "./create-object.ts";
import { badRequest, methodNotAllowed } from "./errors.ts";
import { readBody, sendJson } from "./exchange.ts";
import { goTypeError } from "./go-type-error.ts";
import { parseJsonBody, parseYamlBody } from "./parse-body.ts";
import { patchedObject } from "./patch-object.ts";
import type { ResourceRequest } from "./resource-request.ts";
import { applyScale, readScale, writeScale } from "./scale-object.ts";
import { parsed, patchTypeOf, userAgentOf, writeBody } from "./serve-resource.ts";
import type { Target } from "./update-object.ts";
import { writeOptions } from "./write-options.ts";

const scaleKind = { group: "autoscaling", version: "v1", kind: "Scale" };

/** Serves `/scale`. */
export async function serveScale(request: ResourceRequest, name: string): Promise<void> {
  const { exchange, cluster, path } = request;
  const target: Target = { resource: request.resource, namespace: path.namespace ?? "", name, subresource: "scale" };
  const { type } = negotiate(exchange.request.headers.accept);
  const answer = (scale: ApiObject): void => sendJson(exchange, 200, JSON.stringify(scale), type);
  switch (exchange.method) {
    case "GET":
      return answer(readScale(cluster, target));
    case "PUT": {
      const options = writeOptions(exchange.query, { userAgent: userAgentOf(exchange), user: exchange.user }, "update");
      const { value } = await writeBody(exchange, scaleKind);
      return answer(writeScale(cluster, target, checkedScale(value), options).object);
    }
    case "PATCH":
      return answer((await patchScale(request, target)).object);
    default:
      throw methodNotAllowed();
  }
}

async function patchScale({ exchange, cluster, resource }: ResourceRequest, target: Target): Promise<Written> {
  const type = patchTypeOf(exchange, resource);
  const options = writeOptions(
    exchange.query,
    { userAgent: userAgentOf(exchange), user: exchange.user },
    type === "apply" ? "apply" : "patch",
  );
  const text = await readBody(exchange);
  if (type === "apply") {
    const { value } = parsed(
      () => parseYamlBody(text),
      (problem) => badRequest(`error decoding YAML: ${problem}`),
    );
    return applyScale(cluster, target, value, options);
  }
  const { value } = parsed(
    () => parseJsonBody(text),
    (problem) => badRequest(`error decoding patch: ${problem}`),
  );
  const scale = patchedObject(readScale(cluster, target), type, value, builtinSchema(scaleKind) ?? {});
  return writeScale(cluster, target, checkedScale(scale), options);
}

function checkedScale(value: Json): ApiObject {
  const wrongType = goTypeError(value, builtinSchema(scaleKind) ?? {}, "Scale");
  if (wrongType !== undefined || !isJsonObject(value)) {
    throw badRequest(`Scale in version "v1" cannot be handled as a Scale: ${wrongType ?? "it is no object"}`);
  }
  return value;
}
