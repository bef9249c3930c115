import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Manifest } from "../../../lib/core/manifest.ts";
import { withinDeadline } from "../../deadline.ts";
import { closeServer } from "../../doubles/close-server.ts";
import { gitPrograms } from "../../doubles/git-server.ts";
import { type Hosting, hosting } from "../../doubles/hosting.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";
import { hasProgram } from "../../doubles/terminal.ts";
import { blocksToRun } from "../../unit/documents/page-blocks.ts";
import { type PageWorld, pageWorld, replaced } from "./page-world.ts";

const { signal } = new AbortController();
const hasOpenssl = hasProgram("openssl", "version");

describe.skipIf(gitPrograms === undefined)("the commands of a page (git with http-backend is needed)", () => {
  const opened = new AsyncDisposableStack();
  let page: PageWorld;
  let host: Hosting;
  beforeAll(async () => {
    host = opened.use(await hosting());
    page = opened.use(await pageWorld());
    await page.type("for name in apps flux-system flagger-system team; do kubectl create namespace $name; done");
  });
  afterAll(() => opened.disposeAsync());

  const get = (kind: string, name: string, namespace: string, group = "", version = "v1") =>
    page.sluice.cluster.get({ group, version, kind, namespace, name }, signal);
  const dataOf = (secret: Manifest | undefined) =>
    Object.fromEntries(
      Object.entries(secret?.["data"] ?? {}).map(([key, value]) => [
        key,
        Buffer.from(String(value), "base64").toString(),
      ]),
    );

  test("docs/canaries.md: Flagger is stopped", async () => {
    const [stop = ""] = await blocksToRun("docs/canaries.md", 1);
    await page.apply(`
apiVersion: apps/v1
kind: Deployment
metadata: { name: flagger, namespace: flagger-system }
spec:
  replicas: 1
  selector: { matchLabels: { app: flagger } }
  template: { metadata: { labels: { app: flagger } }, spec: { containers: [{ name: flagger, image: flagger }] } }`);
    expect(await page.type(stop)).toBe("deployment.apps/flagger scaled\n");
    expect(await get("Deployment", "flagger", "flagger-system", "apps")).toMatchObject({ spec: { replicas: 0 } });
  });

  test.skipIf(!hasOpenssl)(
    "docs/git-hosts.md: the source with its deploy key, the login, and the labelled token of a webhook are stored (openssl is needed)",
    async () => {
      const [source = "", login = "", token = ""] = await blocksToRun("docs/git-hosts.md", 3);
      await host.create("team/app", { isPrivate: true });
      await host.commit("team/app", "app.yaml", "");
      // There is nobody whom the command could ask whether the key was added.
      const screen = page.open(
        replaced(source, { "github.com": host.ssh, "--interval 10m": "--interval 10m --silent" }),
      );
      await vi.waitFor(() => {
        const [, key] = /✚ deploy key: (\S+ \S+)/.exec(screen()) ?? [];
        if (key === undefined) throw new Error(`no key is shown: ${screen()}`);
        host.repositories.get("team/app")?.keys.push({ title: "sluice", key, isReadOnly: true });
      }, withinDeadline);
      await vi.waitFor(() => expect(screen()).toContain("✔ fetched revision: main@sha1:"), withinDeadline);
      expect(screen()).toContain(`[127.0.0.1]:${host.ssh.split(":")[1]} ecdsa-sha2-nistp256 `);
      await page.type(login);
      expect(dataOf(await get("Secret", "app", "flux-system"))).toMatchObject({ username: "NAME", password: "TOKEN" });
      await page.type(token);
      const secret = await get("Secret", "webhook-token", "flux-system");
      expect(dataOf(secret)["token"]).toMatch(/^[0-9a-f]{64}$/);
      expect(secret?.metadata.labels).toEqual({ "reconcile.fluxcd.io/watch": "Enabled" });
    },
  );

  test("docs/notifications.md: the chat gets the test event, and a failed delivery is shown at the Alert", async () => {
    const [secret = "", create = "", events = ""] = await blocksToRun("docs/notifications.md", 3);
    const messages: string[] = [];
    let status = 200;
    const chat = createServer((request, response) => {
      request.setEncoding("utf8").on("data", (text: string) => messages.push(text));
      request.on("end", () => response.writeHead(status).end());
    });
    opened.defer(() => closeServer(chat));
    const address = `http://127.0.0.1:${await portOnLoopback(chat)}`;
    // All tests here share the namespace, so it exists.
    const here = { "kubectl create namespace apps": "true", "https://hooks.slack.com/services/…": address };
    await page.type(replaced(secret, here));
    await page.type(create);
    expect(messages.join("")).toContain("Test");
    status = 404;
    await page.apply(`
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: { name: web, namespace: flux-system }
spec: { interval: 10m, url: "oci://127.0.0.1:9/web", insecure: true }`);
    await page.typeUntil(events, /Warning +NotificationDispatchFailed +Alert\/failures/);
  });

  test.skipIf(!hasOpenssl || !hasProgram("curl"))(
    "docs/receivers.md: a call with the signature of its body starts a run of the source (openssl and curl are needed)",
    async () => {
      const [call = ""] = await blocksToRun("docs/receivers.md", 1);
      await host.create("team/web", { isPrivate: false });
      await host.commit("team/web", "one.yaml", "");
      await page.apply(`
apiVersion: v1
kind: Secret
metadata: { name: webhook-token, namespace: apps }
stringData: { token: "0123456789abcdef" }
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: { name: web, namespace: apps }
spec: { interval: 24h, url: "${host.origin}/team/web.git", ref: { branch: main } }
---
apiVersion: notification.toolkit.fluxcd.io/v1
kind: Receiver
metadata: { name: web, namespace: apps }
spec: { type: generic-hmac, secretRef: { name: webhook-token }, resources: [{ kind: GitRepository, name: web }] }`);
      const revision = () => get("GitRepository", "web", "apps", "source.toolkit.fluxcd.io");
      const head = () => host.git("team/web", "rev-parse", "main");
      const isAt = async (commit: string) =>
        expect(await revision()).toMatchObject({ status: { artifact: { revision: `main@sha1:${commit}` } } });
      await vi.waitFor(async () => isAt(await head()), withinDeadline);
      const [, url = ""] =
        /(http:\/\/\S+\/hook\/[0-9a-f]{64})/.exec(
          await page.typeUntil("sluice get receivers -n apps", /\/hook\/[0-9a-f]{64}/),
        ) ?? [];
      await host.commit("team/web", "two.yaml", "");
      const typed = (token: string) =>
        page.type(
          `export TOKEN=${token} WEBHOOK_URL=${url}\n${call.replace("curl ", "curl --silent --write-out %{http_code} ")}`,
        );
      expect(await typed("another")).toMatch(/400$/);
      expect(await typed("0123456789abcdef")).toMatch(/200$/);
      await vi.waitFor(async () => isAt(await head()), withinDeadline);
    },
  );
});
