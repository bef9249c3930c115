import type { Json } from "../../../../lib/core/json.ts";
import { type Http, HttpError, type HttpRequest, type HttpResponse } from "../../../../lib/core/ports/http.ts";

/** A git host that remembers commit statuses and comments, with the API of each product below its own path. */
export interface MemoryGitHost extends Http {
  readonly requests: HttpRequest[];
  /** Whether tokens are known. */
  isUserKnown: boolean;
  /** What the host says instead, if it answers something. */
  answer: (
    request: HttpRequest,
  ) => { readonly status: number; readonly body: string; readonly headers?: Record<string, string> } | undefined;
}

interface Comment {
  readonly id: number;
  readonly author: string;
  body: string;
}

const users: Readonly<Record<string, string>> = {
  "Bearer golden-token": "golden",
  "Bearer golden-password": "golden",
  "Bearer golden-app-token": "golden-app[bot]",
  "token golden-token": "golden",
  "golden-token": "golden",
};

export function memoryGitHost(): MemoryGitHost {
  /** By the place that they are listed at, the newest first. */
  const statuses = new Map<string, Record<string, Json>[]>();
  const comments = new Map<string, Comment[]>();
  let lastComment = 0;

  const said = (body: Json, status = 200) => ({ status, body: JSON.stringify(body) });
  const listed = (place: string): Record<string, Json>[] => {
    const list = statuses.get(place) ?? [];
    statuses.set(place, list);
    return list;
  };
  const postStatus = (place: string, body: Record<string, Json>) => {
    listed(place).unshift(body);
    return said(body, 201);
  };
  const commentsAt = (place: string): Comment[] => {
    const list = comments.get(place) ?? [];
    comments.set(place, list);
    return list;
  };
  const postComment = (place: string, author: string, body: string) => {
    commentsAt(place).push({ id: ++lastComment, author, body });
    return said({ id: lastComment }, 201);
  };
  const changeComment = (id: number, body: string) => {
    for (const list of comments.values()) for (const each of list) if (each.id === id) each.body = body;
    return said({ id });
  };

  const answerTo = (request: HttpRequest): { readonly status: number; readonly body: string } => {
    const { pathname: path, search } = new URL(request.url);
    const headers = request.headers ?? {};
    const user = users[headers["authorization"] ?? headers["private-token"] ?? ""] ?? "";
    const body = bodyOf(request);
    const text = typeof body["body"] === "string" ? body["body"] : "";
    const what = `${request.method} ${path}`;
    const has = (pattern: RegExp): readonly string[] | undefined => pattern.exec(what)?.slice(1);

    const asked =
      // Apps of GitHub.
      (has(/^GET \/api\/v3\/orgs\/.+\/installation$/) && said({ message: "Not Found" }, 404)) ??
      (has(/^GET \/api\/v3\/users\/.+\/installation$/) && said({ id: 8 })) ??
      (has(/^GET \/api\/v3\/app$/) && said({ slug: "golden-app" })) ??
      (has(/^POST \/api\/v3\/app\/installations\/8\/access_tokens$/) &&
        said({ token: "golden-app-token", expires_at: "2126-03-02T12:00:00Z" }, 201));
    if (asked !== undefined) return asked;
    if (user === "" && !path.includes("/_apis/") && !path.startsWith("/rest/") && !path.startsWith("/2.0/")) {
      return said({ message: "Bad credentials" }, 401);
    }

    const [userPath] = has(/^GET \/api\/(v1|v3|v4)\/user$/) ?? [];
    if (userPath !== undefined) return said(userPath === "v4" ? { username: user } : { login: user });
    if (what === "GET /api/v1/version") return said({ version: "1.24.2" });

    // GitHub and Gitea.
    const [list] = has(/^GET (\/api\/v[13]\/repos\/.+\/.+)\/commits\/.+\/statuses$/) ?? [];
    const sha = path.split("/").at(list === undefined ? -1 : -2) ?? "";
    if (list !== undefined) {
      return said(
        listed(`${list} ${sha}`).map((each) =>
          list.startsWith("/api/v1/") ? { ...each, status: each["state"] ?? "" } : each,
        ),
      );
    }
    const [set] = has(/^POST (\/api\/v[13]\/repos\/.+\/.+)\/statuses\/.+$/) ?? [];
    if (set !== undefined) return postStatus(`${set} ${sha}`, body);
    const [method, issue] = has(/^(GET|POST) (\/api\/v[13]\/repos\/.+\/issues\/-?\d+)\/comments$/) ?? [];
    if (issue !== undefined) {
      if (method === "POST") return postComment(issue, user, text);
      return said(commentsAt(issue).map(({ id, author, body: each }) => ({ id, user: { login: author }, body: each })));
    }
    const [changed] = has(/^PATCH \/api\/v[13]\/repos\/.+\/issues\/comments\/(\d+)$/) ?? [];
    if (changed !== undefined) return changeComment(Number(changed), text);
    if (has(/^POST \/api\/v3\/repos\/.+\/dispatches$/) !== undefined) return { status: 204, body: "" };

    // GitLab.
    const [project, ofCommit] = has(/^GET (\/api\/v4\/projects\/[^/]+)\/repository\/commits\/(.+)\/statuses$/) ?? [];
    if (project !== undefined && ofCommit !== undefined) {
      const name = new URLSearchParams(search).get("name");
      return said(listed(`${project} ${ofCommit}`).filter((each) => each["name"] === name));
    }
    const [into, setCommit] = has(/^POST (\/api\/v4\/projects\/[^/]+)\/statuses\/(.+)$/) ?? [];
    if (into !== undefined && setCommit !== undefined) {
      return postStatus(`${into} ${setCommit}`, { ...body, status: body["state"] ?? "", sha: setCommit });
    }
    const [noteMethod, request_] = has(/^(GET|POST) (\/api\/v4\/projects\/[^/]+\/merge_requests\/-?\d+)\/notes$/) ?? [];
    if (request_ !== undefined) {
      if (noteMethod === "POST") return postComment(request_, user, text);
      return said(
        commentsAt(request_).map(({ id, author, body: each }) => ({ id, author: { username: author }, body: each })),
      );
    }
    const [note] = has(/^PUT \/api\/v4\/projects\/[^/]+\/merge_requests\/-?\d+\/notes\/(\d+)$/) ?? [];
    if (note !== undefined) return changeComment(Number(note), text);

    // Bitbucket.
    const [builds, key] = has(/^GET (\/2\.0\/repositories\/.+\/statuses\/build)\/(.+)$/) ?? [];
    if (builds !== undefined) {
      const found = listed(builds).find((each) => each["key"] === key);
      return found === undefined ? said({ type: "error" }, 404) : said(found);
    }
    if (has(/^POST \/2\.0\/repositories\/.+\/statuses\/build$/) !== undefined) return postStatus(path, body);
    if (has(/^GET \/(?:.+\/)?rest\/api\/latest\/projects\/.+\/builds$/) !== undefined) {
      const found = listed(path).find((each) => each["key"] === new URLSearchParams(search).get("key"));
      return found === undefined ? said({ errors: [] }, 404) : said(found);
    }
    if (has(/^POST \/(?:.+\/)?rest\/api\/latest\/projects\/.+\/builds$/) !== undefined) {
      postStatus(path, body);
      return { status: 204, body: "" };
    }

    // Azure DevOps.
    if (has(/^GET .+\/_apis\/git\/repositories\/.+\/statuses$/) !== undefined) {
      return said({ count: listed(path).length, value: listed(path) });
    }
    if (has(/^POST .+\/_apis\/git\/repositories\/.+\/statuses$/) !== undefined) return postStatus(path, body);
    throw new Error(`nothing answers ${what}`);
  };

  const host: MemoryGitHost = {
    requests: [],
    isUserKnown: true,
    answer: () => undefined,
    async send(request): Promise<HttpResponse> {
      const { method, url, proxy } = request;
      const { origin, pathname, port } = new URL(url);
      if (port === "1") {
        const why = "dial tcp 127.0.0.1:1: connect: connection refused";
        throw new HttpError("unreachable", `${method} ${origin}${pathname}: ${why}`);
      }
      host.requests.push({ ...request, ...(proxy === undefined ? {} : { proxy }) });
      const planned = host.answer(request);
      const { status, body } =
        planned ?? (host.isUserKnown ? answerTo(request) : said({ message: "Bad credentials" }, 401));
      return { url, status, headers: planned?.headers ?? {}, body: Buffer.from(body) };
    },
  };
  return host;
}

function bodyOf({ body }: HttpRequest): Record<string, Json> {
  if (body === undefined || body.length === 0) return {};
  const parsed: Record<string, Json> = JSON.parse(Buffer.from(body).toString());
  return parsed;
}
