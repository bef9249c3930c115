import type { Json } from "../../../../lib/core/json.ts";
import type { Http, HttpRequest, HttpResponse } from "../../../../lib/core/ports/http.ts";

/** A pull request as the host keeps it. */
export interface KeptRequest {
  readonly number: number;
  readonly head: string;
  readonly base: string;
  title: string;
  body: string;
  isOpen: boolean;
  /** Of a fork: its branch may have the name of ours. */
  readonly isOfFork?: boolean;
}

/** The pull requests of the repository `shop/deploy` by the APIs of GitHub, GitLab and Gitea, which know the token `golden-token`. */
export interface MemoryRequestHost extends Http {
  readonly kept: KeptRequest[];
  /** Method and address of what was asked. */
  readonly asked: string[];
  /** What it says instead, if it answers something. */
  answer: (request: HttpRequest) => { readonly status: number; readonly body: string } | undefined;
}

const [ownId, forkId] = [1, 2];
type Said = { readonly status: number; readonly body: string };
const said = (body: Json, status = 200): Said => ({ status, body: JSON.stringify(body) });

export function memoryRequestHost(): MemoryRequestHost {
  const kept: KeptRequest[] = [];

  const bodyOf = (request: HttpRequest): Readonly<Record<string, string>> => {
    if (request.body === undefined) return {};
    const body: Readonly<Record<string, string>> = JSON.parse(Buffer.from(request.body).toString());
    return body;
  };
  const created = (head = "", base = "", title = "", body = ""): KeptRequest | undefined => {
    if (kept.some((each) => each.isOpen && each.head === head && each.base === base && each.isOfFork !== true)) return;
    const made = { number: kept.length + 1, head, base, title, body, isOpen: true };
    kept.push(made);
    return made;
  };
  const changed = (number: number, title = "", body = ""): KeptRequest | undefined => {
    const found = kept.find((each) => each.number === number);
    if (found !== undefined) Object.assign(found, { title, body });
    return found;
  };

  const asGitHub = ({ base, body, head, isOfFork, number, title }: KeptRequest, origin: string): Json => ({
    ...{ number, title, body: body === "" ? null : body, html_url: `${origin}/shop/deploy/pull/${number}` },
    head: { ref: head, repo: { id: isOfFork === true ? forkId : ownId } },
    base: { ref: base, repo: { id: ownId } },
  });
  const asGitea = ({ base, body, head, isOfFork, number, title }: KeptRequest, origin: string): Json => ({
    ...{ number, title, body, html_url: `${origin}/shop/deploy/pulls/${number}` },
    head: { ref: head, repo_id: isOfFork === true ? forkId : ownId },
    base: { ref: base, repo_id: ownId },
  });
  const asGitLab = ({ base, body, head, isOfFork, number, title }: KeptRequest, origin: string): Json => ({
    ...{ iid: number, title, description: body === "" ? null : body, source_branch: head, target_branch: base },
    ...{ source_project_id: isOfFork === true ? forkId : ownId, target_project_id: ownId },
    web_url: `${origin}/shop/deploy/-/merge_requests/${number}`,
  });

  const answerTo = (request: HttpRequest): Said => {
    const { origin, pathname, searchParams: query } = new URL(request.url);
    const headers = request.headers ?? {};
    const login = headers["authorization"] ?? headers["private-token"] ?? "";
    if (!login.endsWith("golden-token")) return said({ message: "Bad credentials" }, 401);
    const body = bodyOf(request);
    const open = kept.filter(({ isOpen }) => isOpen);
    const what = `${request.method} ${pathname}`;
    const number = Number(/\d+$/.exec(pathname)?.[0]);
    switch (what.replace(/\d+$/, "N")) {
      case "GET /api/v3/repos/shop/deploy/pulls":
        return said(
          open
            .filter(({ base, head }) => query.get("head") === `shop:${head}` && query.get("base") === base)
            .map((each) => asGitHub(each, origin)),
        );
      case "POST /api/v3/repos/shop/deploy/pulls": {
        const made = created(body["head"], body["base"], body["title"], body["body"]);
        const errors = [{ resource: "PullRequest", code: "custom", message: "A pull request already exists" }];
        return made === undefined
          ? said({ message: "Validation Failed", errors }, 422)
          : said(asGitHub(made, origin), 201);
      }
      case "PATCH /api/v3/repos/shop/deploy/pulls/N": {
        const found = changed(number, body["title"], body["body"]);
        return found === undefined ? said({ message: "Not Found" }, 404) : said(asGitHub(found, origin));
      }
      case "GET /api/v1/version":
        return said({ version: "1.24.2" });
      case "GET /api/v1/repos/shop/deploy/pulls": {
        const [limit, page] = [Number(query.get("limit")), Number(query.get("page"))];
        return said(open.slice((page - 1) * limit, page * limit).map((each) => asGitea(each, origin)));
      }
      case "POST /api/v1/repos/shop/deploy/pulls": {
        const made = created(body["head"], body["base"], body["title"], body["body"]);
        return made === undefined
          ? said({ message: "pull request already exists for these targets" }, 409)
          : said(asGitea(made, origin), 201);
      }
      case "PATCH /api/v1/repos/shop/deploy/pulls/N": {
        const found = changed(number, body["title"], body["body"]);
        return found === undefined ? said({ message: "not found" }, 404) : said(asGitea(found, origin), 201);
      }
      case "GET /api/v4/projects/shop%2Fdeploy/merge_requests":
        return said(
          open
            .filter(({ base, head }) => query.get("source_branch") === head && query.get("target_branch") === base)
            .map((each) => asGitLab(each, origin)),
        );
      case "POST /api/v4/projects/shop%2Fdeploy/merge_requests": {
        const made = created(body["source_branch"], body["target_branch"], body["title"], body["description"]);
        return made === undefined
          ? said({ message: ["Another open merge request already exists for this source branch: !1"] }, 409)
          : said(asGitLab(made, origin), 201);
      }
      case "PUT /api/v4/projects/shop%2Fdeploy/merge_requests/N": {
        const found = changed(number, body["title"], body["description"]);
        return found === undefined ? said({ message: "404 Not found" }, 404) : said(asGitLab(found, origin));
      }
      default:
        throw new Error(`nothing answers ${what}`);
    }
  };

  const host: MemoryRequestHost = {
    kept,
    asked: [],
    answer: () => undefined,
    async send(request): Promise<HttpResponse> {
      host.asked.push(`${request.method} ${request.url}`);
      const { body, status } = host.answer(request) ?? answerTo(request);
      return { url: request.url, status, headers: {}, body: Buffer.from(body) };
    },
  };
  return host;
}
