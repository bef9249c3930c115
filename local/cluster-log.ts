import { isJsonObject } from "../lib/core/json.ts";
import type { Log, LogFields } from "../lib/core/ports/log.ts";
import { clusterOfText } from "../lib/core/work-key.ts";

/** Names the cluster of each line about an object or a cluster as `nameOf` says, in place of its id. Other lines stay as they are. */
export function namingClusters(log: Log, nameOf: (id: string) => string | undefined): Log {
  return mapFields(log, (fields) => {
    const name = nameOf(clusterIn(fields));
    return name === undefined ? fields : { cluster: name, ...without(fields, "cluster") };
  });
}

/** Adds the name of a cluster to each line. */
export function logOfCluster(log: Log, cluster: string): Log {
  return mapFields(log, (fields) => ({ cluster, ...fields }));
}

function mapFields(log: Log, map: (fields: LogFields) => LogFields): Log {
  return {
    debug: (message, fields = {}) => log.debug(message, map(fields)),
    info: (message, fields = {}) => log.info(message, map(fields)),
    warn: (message, fields = {}) => log.warn(message, map(fields)),
    error: (message, fields = {}) => log.error(message, map(fields)),
  };
}

/** The id in the field `cluster` or in a work key, which may be an object or its text; empty if there is none. */
function clusterIn({ cluster, key }: LogFields): string {
  if (typeof cluster === "string") return cluster;
  if (typeof key === "string") return clusterOfText(key);
  return isJsonObject(key) && typeof key["cluster"] === "string" ? key["cluster"] : "";
}

function without(fields: LogFields, name: string): LogFields {
  return Object.fromEntries(Object.entries(fields).filter(([each]) => each !== name));
}
