import { createHmac } from "node:crypto";
import type { Clock } from "../../core/ports/clock.ts";
import type { HttpResponse } from "../../core/ports/http.ts";
import type { Secret } from "../../core/secret.ts";
import { ask, maxAnswerBytes, maxPageBytes, type Way } from "./bounded-requests.ts";
import { BucketFault, type ListedObject, type ObjectStore } from "./object-store.ts";
import type { Phase } from "./phase.ts";
import { notOfApi, plainEtag, sizeOf, statusText, xmlOf } from "./provider-answers.ts";
import { childOf, textOf, type XmlElement } from "./read-xml.ts";
import { escapedPath } from "./sign-request.ts";

/** How requests to Azure log in. */
export type AzureAccess =
  | { readonly kind: "anonymous" }
  /** The key of a storage account, in base64. */
  | { readonly kind: "key"; readonly key: Secret }
  /** A shared access signature: parameters of a query. */
  | { readonly kind: "sas"; readonly query: Secret }
  | { readonly kind: "token"; readonly token: (phase: Phase) => Promise<Secret> };

export interface AzureStoreOptions extends Way {
  /** The account's URL: `https://<account>.blob.core.windows.net`, with or without parameters. */
  readonly endpoint: URL;
  readonly container: string;
  readonly access: AzureAccess;
  readonly clock: Pick<Clock, "now">;
}

/** The last version whose names of blobs are never escaped. */
const apiVersion = "2020-10-02";
const pageBlobs = 1_000;

/** A container of Azure Blob Storage by its REST API. */
export function azureStore(options: AzureStoreOptions): ObjectStore {
  const { endpoint, container, access, clock } = options;
  const send = async (
    path: string,
    parameters: Readonly<Record<string, string>>,
    maxBytes: number,
    phase: Phase,
  ): Promise<HttpResponse> => {
    const url = new URL(endpoint);
    url.pathname = `${url.pathname.replace(/\/$/, "")}/${escapedPath(path)}`;
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    const sas = access.kind === "sas" ? new URLSearchParams(access.query.reveal()) : [];
    for (const [name, value] of sas) url.searchParams.set(name, value);
    const headers = { "x-ms-date": new Date(clock.now()).toUTCString(), "x-ms-version": apiVersion };
    const authorization =
      access.kind === "key"
        ? { authorization: sharedKey(url, headers, access.key) }
        : access.kind === "token"
          ? { authorization: `Bearer ${(await access.token(phase)).reveal()}` }
          : {};
    return ask(options, { method: "GET", url: url.href, headers: { ...headers, ...authorization }, maxBytes }, phase);
  };
  const list = { restype: "container", comp: "list" };
  return {
    async exists(phase) {
      // A signature for blobs may list them and not read the container's own properties.
      const answer = await send(container, { ...list, maxresults: "1" }, maxPageBytes, phase);
      if (answer.status === 404) return false;
      if (answer.status !== 200) throw faultOf(answer, "the container name may be wrong, or access may be denied");
      return true;
    },

    async get(key, maxBytes, phase) {
      const answer = await send(`${container}/${key}`, {}, Math.max(maxBytes, maxErrorBytes), phase);
      if (answer.status === 404) return undefined;
      if (answer.status !== 200) throw faultOf(answer);
      if (answer.body.length > maxBytes)
        throw new BucketFault("too-large", `the answer is longer than ${maxBytes} bytes`);
      return { bytes: answer.body, etag: plainEtag(answer.headers["etag"] ?? "") };
    },

    async *list(prefix, phase) {
      let marker = "";
      for (;;) {
        const page = {
          ...list,
          maxresults: String(pageBlobs),
          ...(prefix === "" ? {} : { prefix }),
          ...(marker === "" ? {} : { marker }),
        };
        const answer = await send(container, page, maxPageBytes, phase);
        if (answer.status !== 200) throw faultOf(answer);
        const root = xmlOf(answer);
        yield (childOf(root, "Blobs")?.children ?? []).filter(({ name }) => name === "Blob").map(blobOf);
        const next = textOf(root, "NextMarker").trim();
        if (next === "") return;
        if (next === marker) throw notOfApi("it has the same page again");
        marker = next;
      }
    },
  };
}

/** The limit for an error answer, even if a smaller answer is expected. */
const maxErrorBytes = maxAnswerBytes;

function blobOf(blob: XmlElement): ListedObject {
  const properties = childOf(blob, "Properties");
  const key = childOf(blob, "Name")?.text;
  if (properties === undefined || key === undefined) throw notOfApi("a blob has no name or properties");
  return {
    key,
    etag: plainEtag(textOf(properties, "Etag").trim()),
    size: sizeOf(textOf(properties, "Content-Length").trim()),
  };
}

/** https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key, of a GET without a body. */
function sharedKey(url: URL, headers: Readonly<Record<string, string>>, key: Secret): string {
  const [account = ""] = url.hostname.split(".");
  const names = Object.entries(headers).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const parameters = [...url.searchParams].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const unsetHeaders = "\n".repeat(12);
  const resource = [
    `/${account}${url.pathname}`,
    ...parameters.map(([name, value]) => `${name.toLowerCase()}:${value}`),
  ];
  const text = `GET${unsetHeaders}${names.map(([name, value]) => `${name}:${value}\n`).join("")}${resource.join("\n")}`;
  const signature = createHmac("sha256", Buffer.from(key.reveal(), "base64")).update(text).digest("base64");
  return `SharedKey ${account}:${signature}`;
}

function faultOf({ status, headers }: HttpResponse, hint?: string): BucketFault {
  const code = headers["x-ms-error-code"] ?? "";
  const said = /^[A-Za-z]{1,64}$/.test(code) ? `${code} (${statusText(status)})` : statusText(status);
  return new BucketFault("answer", hint === undefined ? said : `${said}: ${hint}`);
}
