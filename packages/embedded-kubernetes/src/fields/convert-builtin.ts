import type { ApiObject } from "../core/api-object.ts";
import { convertAutoscaler } from "./convert-autoscaler.ts";

/** A built-in object in another version of its group. Only HorizontalPodAutoscaler has several. */
export function convertBuiltin(object: ApiObject, apiVersion: string): ApiObject {
  if (object["apiVersion"] === apiVersion) return object;
  if (object["kind"] === "HorizontalPodAutoscaler") return convertAutoscaler(object, apiVersion);
  return { ...object, apiVersion };
}
