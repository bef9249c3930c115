import { z } from "zod";
import { parseJson } from "../../core/json.ts";
import type { HttpResponse } from "../../core/ports/http.ts";
import type { Secret } from "../../core/secret.ts";
import { limitedList } from "../../core/validation.ts";
import { ask, maxAnswerBytes, maxPageBytes, type Way } from "./bounded-requests.ts";
import { BucketFault, type ListedObject, type ObjectStore } from "./object-store.ts";
import type { Phase } from "./phase.ts";
import { notOfApi, sizeOf, statusText } from "./provider-answers.ts";

/** Google's own, for every bucket: `spec.endpoint` is not read, as in Flux. */
const api = "https://storage.googleapis.com/storage/v1/b";
const pageKeys = 1_000;

const Attributes = z.object({ etag: z.string(), generation: z.string() });
const Listed = z.object({ name: z.string(), etag: z.string(), size: z.string() });
const Page = z.object({ items: limitedList(Listed, pageKeys).default([]), nextPageToken: z.string().optional() });

/** A bucket of Google Cloud Storage by its JSON API. `token` gives what the requests log in with. */
export function googleStore(bucket: string, token: (phase: Phase) => Promise<Secret>, way: Way): ObjectStore {
  const base = `${api}/${encodeURIComponent(bucket)}`;
  const send = async (url: string, maxBytes: number, phase: Phase): Promise<HttpResponse> => {
    const headers = { authorization: `Bearer ${(await token(phase)).reveal()}`, "accept-encoding": "identity" };
    return ask(way, { method: "GET", url, headers, maxBytes }, phase);
  };
  return {
    async exists(phase) {
      const answer = await send(`${base}?fields=name`, maxAnswerBytes, phase);
      if (answer.status === 404) return false;
      if (answer.status !== 200) throw faultOf(answer);
      return true;
    },

    async get(key, maxBytes, phase) {
      const object = `${base}/o/${encodeURIComponent(key.toWellFormed())}`;
      const attributes = await send(`${object}?fields=etag,generation`, maxAnswerBytes, phase);
      if (attributes.status === 404) return undefined;
      if (attributes.status !== 200) throw faultOf(attributes);
      const { etag, generation } = jsonOf(attributes, Attributes);
      // Of just this generation, so that etag and content belong together.
      const content = await send(
        `${object}?alt=media&generation=${encodeURIComponent(generation)}`,
        Math.max(maxBytes, maxErrorBytes),
        phase,
      );
      if (content.status === 404) return undefined;
      if (content.status !== 200) throw faultOf(content);
      if (content.body.length > maxBytes)
        throw new BucketFault("too-large", `the answer is longer than ${maxBytes} bytes`);
      return { bytes: content.body, etag };
    },

    async *list(prefix, phase) {
      let next: string | undefined;
      for (;;) {
        const query = new URLSearchParams({
          ...{ prefix, maxResults: String(pageKeys), fields: "items(name,etag,size),nextPageToken" },
          ...(next === undefined ? {} : { pageToken: next }),
        });
        const answer = await send(`${base}/o?${query.toString()}`, maxPageBytes, phase);
        if (answer.status !== 200) throw faultOf(answer);
        const { items, nextPageToken = "" } = jsonOf(answer, Page);
        yield items.map(({ name, etag, size }): ListedObject => ({ key: name, etag, size: sizeOf(size) }));
        if (nextPageToken === "") return;
        if (nextPageToken === next) throw notOfApi("it has the same page again");
        next = nextPageToken;
      }
    },
  };
}

/** The limit for an error answer, even if a smaller answer is expected. */
const maxErrorBytes = 64 * 1024;

function jsonOf<Answer>({ body }: HttpResponse, schema: z.ZodType<Answer>): Answer {
  try {
    return schema.parse(parseJson(Buffer.from(body).toString()));
  } catch (error) {
    throw notOfApi("it is not the JSON that was asked for", error);
  }
}

function faultOf({ status }: HttpResponse): BucketFault {
  const why: Readonly<Record<number, string>> = {
    401: "the credentials are not accepted",
    403: "the service account may not read the bucket",
  };
  const said = why[status];
  return new BucketFault("answer", said === undefined ? statusText(status) : `${said} (${statusText(status)})`);
}
