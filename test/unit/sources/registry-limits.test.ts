import { describe, expect, test } from "vitest";
import {
  maxLinkHeaderLength,
  maxManifestBytes,
  maxReferrers,
  maxTagLength,
  maxTagListBytes,
  maxTagPages,
  maxTags,
} from "../../../lib/sources/oci/registry-client.ts";
import { maxRegistryErrors } from "../../../lib/sources/oci/registry-fault.ts";
import { forever, refuse, scriptedRegistry } from "./scripted-registry.ts";

const registry = scriptedRegistry();

describe("lists of referrers", () => {
  const digest = `sha256:${"a".repeat(64)}`;
  const path = `GET /v2/app/referrers/${digest}`;
  const index = (count: number) =>
    JSON.stringify({ manifests: Array.from({ length: count }, (_, at) => ({ digest: `${at}` })) });

  test("are read page by page, up to maxReferrers", async () => {
    const listing = (last: number): void => {
      registry.answers[path] = (request, response) => {
        const page = Number(new URL(request.url ?? "", "http://x").searchParams.get("page") ?? 0);
        const next = { link: `</v2/app/referrers/${digest}?page=${page + 1}>; rel="next"` };
        response.writeHead(200, page < last ? next : {}).end(index(page === 2 ? 1 : maxReferrers / 2));
      };
    };
    listing(1);
    expect(await registry.client().referrers("app", digest, forever)).toHaveLength(maxReferrers);
    listing(2);
    await expect(registry.client().referrers("app", digest, forever)).rejects.toThrow(
      `has more than ${maxReferrers} referrers of ${digest}`,
    );
  });

  test("are read from a tag if the registry has no referrers API, up to maxReferrers", async () => {
    const byTag = (count: number): void => {
      registry.answers[path] = (_request, response) => response.writeHead(404).end();
      registry.answers[`GET /v2/app/manifests/${digest.replace(":", "-")}`] = (_request, response) =>
        response.writeHead(count === 0 ? 404 : 200).end(index(count));
    };
    byTag(2);
    expect(await registry.client().referrers("app", digest, forever)).toEqual([{ digest: "0" }, { digest: "1" }]);
    byTag(0);
    expect(await registry.client().referrers("app", digest, forever)).toEqual([]);
    byTag(maxReferrers + 1);
    await expect(registry.client().referrers("app", digest, forever)).rejects.toThrow(`more than ${maxReferrers}`);
  });

  test("that are invalid, or refused by the registry, fail", async () => {
    registry.answers[path] = (_request, response) => response.writeHead(200).end("[]");
    await expect(registry.client().referrers("app", digest, forever)).rejects.toThrow("is not a list of referrers");
    registry.answers[path] = refuse(403);
    await expect(registry.client().referrers("app", digest, forever)).rejects.toThrow("403 Forbidden");
  });
});

describe("limits on lists of tags", () => {
  /** A registry that answers these pages, one after the other. */
  const listing = (page: (index: number) => string, last: number, link = "/v2/app/tags/list"): void => {
    registry.answers["GET /v2/app/tags/list"] = (request, response) => {
      const index = Number(new URL(request.url ?? "", "http://x").searchParams.get("page") ?? 0);
      const headers = index < last ? { link: `<${link}?page=${index + 1}>; rel="next"` } : {};
      response.writeHead(200, headers).end(page(index));
    };
  };
  const tagsOf = (count: number): string =>
    JSON.stringify({ tags: Array.from({ length: count }, (_, index) => `t${index}`) });
  const padded = (bytes: number): string => '{"tags":[]}'.padEnd(bytes);

  test("apply to their number", async () => {
    listing(() => tagsOf(maxTags / 4), 3);
    expect(await registry.client().tags("app", forever)).toHaveLength(maxTags);
    listing((index) => tagsOf(index === 3 ? maxTags / 4 + 1 : maxTags / 4), 3);
    await expect(registry.client().tags("app", forever)).rejects.toThrow(`has more than ${maxTags} tags`);
  });

  test("apply to their bytes, however few tags they have", async () => {
    const pages = maxTagListBytes / maxManifestBytes;
    listing(() => padded(maxManifestBytes), pages - 1);
    expect(await registry.client().tags("app", forever)).toEqual([]);
    listing(() => padded(maxManifestBytes), pages);
    await expect(registry.client().tags("app", forever)).rejects.toThrow(
      `a list of tags of more than ${maxTagListBytes} bytes`,
    );
  });

  test("apply to the bytes of one page", async () => {
    listing(() => padded(maxManifestBytes + 1), 0);
    await expect(registry.client().tags("app", forever)).rejects.toThrow(`longer than ${maxManifestBytes} bytes`);
  });

  test("apply to their pages", async () => {
    listing(() => padded(11), maxTagPages - 1);
    expect(await registry.client().tags("app", forever)).toEqual([]);
    listing(() => padded(11), maxTagPages);
    await expect(registry.client().tags("app", forever)).rejects.toThrow(`has more than ${maxTagPages} pages of tags`);
  });

  test("apply to the length of one tag", async () => {
    listing(() => JSON.stringify({ tags: ["t".repeat(maxTagLength)] }), 0);
    expect(await registry.client().tags("app", forever)).toHaveLength(1);
    listing(() => JSON.stringify({ tags: ["t".repeat(maxTagLength + 1)] }), 0);
    await expect(registry.client().tags("app", forever)).rejects.toThrow(
      `a tag of more than ${maxTagLength} characters`,
    );
  });

  test("apply to the address of the next page", async () => {
    const around = '<?page=1>; rel="next"'.length;
    listing(() => padded(11), 1, "/v2/app/tags/list".padEnd(maxLinkHeaderLength - around, "/"));
    await expect(registry.client().tags("app", forever)).rejects.toThrow("404");
    listing(() => padded(11), 1, "/v2/app/tags/list".padEnd(maxLinkHeaderLength - around + 1, "/"));
    await expect(registry.client().tags("app", forever)).rejects.toThrow("names a next page by more than");
  });
});

describe("limits on errors in a registry's answer", () => {
  const saying = (errors: readonly unknown[]): Promise<string> => {
    registry.answers["GET /v2/app/manifests/v1"] = refuse(404, {}, JSON.stringify({ errors }));
    return registry
      .client()
      .manifest("app", "v1", forever)
      .then(() => "", String);
  };
  const error = { code: "MANIFEST_UNKNOWN", message: "" };

  test("apply to their number: above it only the status code is shown", async () => {
    const many = (count: number) => saying(Array.from({ length: count }, () => error));
    expect(await many(maxRegistryErrors)).toMatch(/: MANIFEST_UNKNOWN: manifest unknown$/);
    expect(await many(maxRegistryErrors + 1)).toMatch(/: unexpected status code 404 Not Found$/);
  });
});
