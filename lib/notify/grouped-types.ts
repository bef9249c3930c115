/** The types of Provider whose messages people read. What programs read is never grouped: they count on each event. */
const readByPeople: ReadonlySet<string> = new Set([
  "alertmanager",
  "datadog",
  "discord",
  "googlechat",
  "grafana",
  "lark",
  "matrix",
  "msteams",
  "opsgenie",
  "pagerduty",
  "rocket",
  "sentry",
  "slack",
  "telegram",
  "webex",
  "zulip",
]);

/** Whether a Provider of this type may get one message in place of many with the same cause. */
export function isGroupedType(type: string): boolean {
  return readByPeople.has(type);
}
