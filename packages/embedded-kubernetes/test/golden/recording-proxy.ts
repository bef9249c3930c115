import { once } from "node:events";
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { isJsonObject, type Json, type JsonObject, toJson } from "../../src/core/json.ts";

/** Stands before the API server, adds the token, and notes what kubectl asked. */
export interface RecordingProxy extends AsyncDisposable {
  readonly url: string;
  /** What was asked since the last call. */
  take(): readonly JsonObject[];
}

export async function recordingProxy(target: string, token: string): Promise<RecordingProxy> {
  let seen: JsonObject[] = [];
  const server = createServer((incoming, outgoing) => {
    void forward(incoming, outgoing, target, token).then((noted) => seen.push(noted));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    take() {
      const taken = seen;
      seen = [];
      return taken;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

async function forward(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  target: string,
  token: string,
): Promise<JsonObject> {
  const chunks: Buffer[] = [];
  const body: AsyncIterable<Buffer> = incoming;
  for await (const chunk of body) chunks.push(chunk);
  const sent = Buffer.concat(chunks);
  const { method = "GET", url = "/", headers } = incoming;
  const onward = httpRequest(`${target}${url}`, { method, headers: { ...headers, authorization: `Bearer ${token}` } });
  onward.end(sent);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    onward.once("response", resolve);
    onward.once("error", reject);
  });
  outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
  answer.pipe(outgoing);
  outgoing.once("close", () => onward.destroy());
  return noted(method, url, headers, sent, answer.statusCode ?? 0);
}

function noted(
  method: string,
  path: string,
  headers: IncomingMessage["headers"],
  sent: Buffer,
  status: number,
): JsonObject {
  return {
    method,
    path: ordered(path),
    accept: headers.accept ?? "",
    ...(sent.length === 0 ? {} : { contentType: headers["content-type"] ?? "", body: bodyOf(sent) }),
    status: status === 304 ? 200 : status,
  };
}

/** The parts of a fieldSelector come in no fixed order. */
function ordered(path: string): string {
  return path.replace(
    /fieldSelector=([^&]*)/,
    (_, selector: string) => `fieldSelector=${selector.split("%2C").toSorted().join("%2C")}`,
  );
}

function bodyOf(sent: Buffer): Json {
  if (sent.subarray(0, 4).toString("latin1") === "k8s\0") return "<protobuf>";
  try {
    const body: unknown = JSON.parse(sent.toString());
    return isJsonObject(body) || Array.isArray(body) ? toJson(body) : sent.toString();
  } catch {
    return sent.toString();
  }
}
