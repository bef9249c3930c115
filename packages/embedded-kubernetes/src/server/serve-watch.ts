import type { StoredObject } from "../store/stored-object.ts";
import type { Acceptable } from "./accept.ts";
import type { ListOptions } from "./list-options.ts";
import { objectText, partialText } from "./render.ts";
import type { ResourceRequest } from "./resource-request.ts";
import { tableOf, tableText } from "./table-answer.ts";
import { startWatch, type WriteObject } from "./watch.ts";

/** What a client that reads too slowly may leave unread before its watch is ended; it lists and watches again. */
const maxUnreadBytes = 16 * 1024 * 1024;

/** Streams the changes of a collection, one JSON document a line. */
export function serveWatch(request: ResourceRequest, options: ListOptions, { as }: Acceptable): void {
  const { exchange, cluster, resource, path } = request;
  const { response } = exchange;
  let isOpen = false;
  const open = (): void => {
    if (isOpen) return;
    isOpen = true;
    response.writeHead(200, { "content-type": "application/json", "cache-control": "no-cache, private" });
    response.flushHeaders();
  };
  const watch = startWatch({
    cluster,
    resource,
    namespace: path.namespace,
    options,
    writeObject: writerFor(request, as),
    send(line) {
      open();
      response.write(line);
      if (response.writableLength > maxUnreadBytes) response.destroy();
      return !response.destroyed;
    },
    end() {
      open();
      response.end();
    },
  });
  open();
  response.on("close", () => watch.stop());
}

function writerFor({ exchange, cluster, resource }: ResourceRequest, as: Acceptable["as"]): WriteObject {
  switch (as) {
    case undefined:
      return (stored) => objectText(stored, resource);
    case "PartialObjectMetadata":
    case "PartialObjectMetadataList":
      return partialText;
    case "Table": {
      const table = tableOf(exchange.query, resource, cluster);
      let isFirst = true;
      return (stored: StoredObject) => {
        const text = tableText(table, [stored], { resourceVersion: String(stored.revision) }, isFirst);
        isFirst = false;
        return text;
      };
    }
  }
}
