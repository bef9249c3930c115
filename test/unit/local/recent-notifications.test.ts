import { describe, expect, test } from "vitest";
import type { Notification } from "../../../lib/notify/notification.ts";
import { maxRecent, maxTextBytes, recentNotifications } from "../../../local/recent-notifications.ts";

const clock = { now: () => Date.UTC(2026, 10, 29, 9, 0, 7) };

function about(name: string, message = "kustomize build failed"): Notification {
  return {
    cluster: "here",
    alert: { namespace: "apps", name: "all" },
    provider: { namespace: "apps", name: "slack" },
    eventKey: "key",
    event: {
      involvedObject: { kind: "Kustomization", namespace: "apps", name },
      severity: "error",
      timestamp: "2026-11-29T09:00:07Z",
      message,
      reason: "BuildFailed",
      metadata: { "kustomize.toolkit.fluxcd.io/revision": "main@sha1:0a1b" },
      reportingController: "kustomize-controller",
    },
  };
}

describe("the page of recent notifications", () => {
  test("reports that there are none", () => {
    expect(recentNotifications(clock).page()).toContain("None yet: no event has matched an Alert.\n");
  });

  test("shows each with its event, Alert, Provider and result, the newest first", () => {
    const recent = recentNotifications(clock);
    const first = about("web");
    recent.add(first);
    recent.add(about("db"));
    recent.settle(first, "sent");
    expect(recent.page()).toBe(`The last ${maxRecent} notifications of this sluice local, the newest first.

2026-11-29T09:00:07Z error Kustomization/apps/db BuildFailed
  kustomize build failed
  kustomize.toolkit.fluxcd.io/revision=main@sha1:0a1b
  Alert apps/all, Provider apps/slack: waiting

2026-11-29T09:00:07Z error Kustomization/apps/web BuildFailed
  kustomize build failed
  kustomize.toolkit.fluxcd.io/revision=main@sha1:0a1b
  Alert apps/all, Provider apps/slack: sent
`);
  });

  test("keeps only the last ones, and long messages up to 2 KiB", () => {
    const recent = recentNotifications(clock);
    const forgotten = about("old");
    recent.add(forgotten);
    for (let number = 0; number < maxRecent; number++) recent.add(about(`app-${number}`, "x".repeat(100_000)));
    recent.settle(forgotten, "sent");
    const page = recent.page();
    expect(page).not.toContain("/old ");
    expect(page.match(/^\S+ error/gm)).toHaveLength(maxRecent);
    expect(page.length).toBeGreaterThan(maxRecent * maxTextBytes);
    expect(page.length).toBeLessThan(maxRecent * (maxTextBytes + 300));
  });

  test("escapes line breaks and control characters in messages", () => {
    const recent = recentNotifications(clock);
    recent.add(about("web", "first\n2026-11-29T09:00:07Z error Kustomization/apps/other Faked\u001b[2J"));
    const lines = recent.page().split("\n");
    expect(lines.filter((line) => line.startsWith("2026"))).toHaveLength(1);
    expect(lines).toContain("  2026-11-29T09:00:07Z error Kustomization/apps/other Faked\\u001b[2J");
  });
});
