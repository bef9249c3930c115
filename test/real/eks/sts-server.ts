import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { text } from "node:stream/consumers";
import { ask } from "../ask.ts";
import { presignedFault, type Signer } from "./presigned-request.ts";

export interface StsOptions {
  readonly port: number;
  /** Read at each request, so that moto may start later or again. */
  readonly moto: () => Promise<string>;
  readonly region: string;
  /** For `sts.<region>.amazonaws.com`, PEM. */
  readonly certificate: string;
  readonly key: string;
}

/**
 * STS in front of moto's, which adds what moto does not implement: the signature of a presigned GetCallerIdentity is checked, and answered in
 * JSON where that is asked for. Credentials are moto's, handed out here so that their secrets are known. It is an HTTP proxy
 * as well, by which a client that insists on STS' own name reaches it over TLS.
 */
export async function startStsServer({ port, moto, region, certificate, key }: StsOptions): Promise<Server> {
  const signers = new Map<string, Signer & { readonly motoId: string }>();
  /** moto knows its caller and the service by this header alone. */
  const authorization = (accessKeyId: string): string =>
    `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20260101/${region}/sts/aws4_request, SignedHeaders=host, Signature=0`;
  const askMoto = async (accessKeyId: string, form: URLSearchParams): Promise<string> => {
    const headers = {
      authorization: authorization(accessKeyId),
      "content-type": "application/x-www-form-urlencoded",
    };
    const answer = await ask(`${await moto()}/`, { method: "POST", headers, body: form.toString() });
    if (answer?.status !== 200) throw new Error(`moto answers ${answer?.status ?? "nothing"}: ${answer?.text ?? ""}`);
    return answer.text;
  };

  const assumeRole = async (form: URLSearchParams, response: ServerResponse): Promise<void> => {
    const xml = await askMoto("x", form);
    const motoId = element(xml, "AccessKeyId");
    // With the prefix of a permanent key: the S3 gateway recognises temporary keys by their prefix, and accepts only its own.
    const accessKeyId = motoId.replace(/^ASIA/, "AKIA");
    const [secretAccessKey, sessionToken] = [element(xml, "SecretAccessKey"), element(xml, "SessionToken")];
    signers.set(accessKeyId, { secretAccessKey, sessionToken, motoId });
    response.writeHead(200, { "content-type": "text/xml" }).end(xml.replace(motoId, accessKeyId));
  };
  const callerIdentity = async (url: URL, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const query = url.searchParams;
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const presigned = { method: request.method ?? "", path: url.pathname, query, headers };
    const fault = presignedFault(presigned, (accessKeyId) => signers.get(accessKeyId), Date.now());
    const RequestId = randomUUID();
    if (fault !== undefined) {
      reply(response, 403, { Error: { Code: fault.code, Message: fault.message, Type: "Sender" }, RequestId });
      return;
    }
    const [accessKeyId = ""] = (query.get("X-Amz-Credential") ?? "").split("/");
    const form = new URLSearchParams({ Action: "GetCallerIdentity", Version: "2011-06-15" });
    const xml = await askMoto(signers.get(accessKeyId)?.motoId ?? "", form);
    const [Account, Arn, UserId] = ["Account", "Arn", "UserId"].map((name) => element(xml, name));
    const GetCallerIdentityResult = { Account, Arn, UserId };
    reply(response, 200, { GetCallerIdentityResponse: { GetCallerIdentityResult, ResponseMetadata: { RequestId } } });
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? "/", "http://sts");
    const form = new URLSearchParams(await text(request));
    const action = form.get("Action") ?? url.searchParams.get("Action");
    if (action === "AssumeRole" || action === "AssumeRoleWithWebIdentity") await assumeRole(form, response);
    else if (action === "GetCallerIdentity") await callerIdentity(url, request, response);
    else reply(response, 400, { Error: { Code: "InvalidAction", Message: `no action ${action}`, Type: "Sender" } });
  };
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    serve(request, response).catch((error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      reply(response, 500, { Error: { Code: "InternalFailure", Message: String(error), Type: "Receiver" } });
    });
  };

  const secure = createTlsServer({ cert: certificate, key }, listener);
  const server = createServer(listener);
  server.on("connect", ({ url }, socket) => {
    if (url !== `sts.${region}.amazonaws.com:443`) {
      socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
      return;
    }
    socket.on("error", () => socket.destroy());
    socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
    secure.emit("connection", socket);
  });
  await once(server.listen(port, "127.0.0.1"), "listening");
  return server;
}

function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function element(xml: string, name: string): string {
  const found = new RegExp(`<${name}>([^<]+)</${name}>`).exec(xml)?.[1];
  if (found === undefined) throw new Error(`moto's answer has no ${name}`);
  return found;
}
