import type { FileFaults } from "./fault.ts";

const deliver = ["test/unit/notify/deliver.test.ts"];
const dispatch = ["test/unit/notify/dispatch.test.ts"];
const inCluster = ["test/unit/in-cluster/in-cluster-http.test.ts"];
const match = ["test/unit/notify/match-alert.test.ts"];
const metadata = ["test/unit/notify/event-metadata.test.ts"];
const settings = ["test/unit/notify/read-settings.test.ts"];

export const notifyFaults: readonly FileFaults[] = [
  {
    file: "lib/notify/match-alert.ts",
    tests: match,
    faults: [
      {
        what: "a source without namespace names objects of every namespace",
        find: "const isOfPlace = involvedObject.namespace === within && involvedObject.kind === kind;",
        replace:
          "const isOfPlace = (source.namespace === undefined || involvedObject.namespace === within) && involvedObject.kind === kind;",
      },
      {
        what: "an Alert for errors takes every severity except info",
        find: 'return eventSeverity === "info" || eventSeverity === severity;',
        replace: 'return eventSeverity === "info" || severity !== "info";',
      },
      {
        what: "an expression has to match the whole message",
        find: "compiled.matcher(searched).find()",
        replace: "compiled.matcher(searched).matches()",
      },
      {
        what: "labels that cannot be read count as unset",
        find: "const labels = await labelsOf();",
        replace: "const labels = (await labelsOf()) ?? {};",
      },
      {
        what: "an expression that does not compile ends the list",
        find: `        message: \`failed to compile \${list} regex: \${cutText(expression, maxShownBytes)}\`,
      });`,
        replace: `        message: \`failed to compile \${list} regex: \${cutText(expression, maxShownBytes)}\`,
      });
      return false;`,
      },
    ],
  },
  {
    file: "lib/notify/merge-metadata.ts",
    tests: metadata,
    faults: [
      {
        what: "equal values of two sources are no conflict",
        find: "merged.set(key, value);\n      givenBy.set(key, [...(givenBy.get(key) ?? []), name]);",
        replace:
          "if (merged.get(key) !== value) givenBy.set(key, [...(givenBy.get(key) ?? []), name]);\n      merged.set(key, value);",
      },
    ],
  },
  {
    file: "lib/notify/keep-metadata.ts",
    tests: metadata,
    faults: [
      {
        what: "the token of an event is sent",
        find: " &&\n      key !== `${prefix}token`",
        replace: "",
      },
    ],
  },
  {
    file: "lib/notify/admits.ts",
    tests: metadata,
    faults: [
      {
        what: "a heartbeat comments on a change request",
        find: 'return names("change_request") && !isUpdate;',
        replace: 'return names("change_request");',
      },
    ],
  },
  {
    file: "lib/notify/dispatch.ts",
    tests: dispatch,
    faults: [
      {
        what: "an event without a matching Alert opens a window",
        find: 'if (concerned.length === 0) return "first";',
        replace: "",
      },
      {
        what: "an event that cannot be queued is lost",
        find: "if (!(error instanceof ApiError && isRefusal(error))) throw error;",
        replace: "",
      },
      {
        what: "an event whose Alerts the cluster cannot list now is lost",
        find: "return code >= 400 && code < 500 &&",
        replace: "return code < 600 &&",
      },
      {
        what: "each Alert reads the object of the event separately",
        find: "return () => (labels ??= read());",
        replace: "return () => (labels = read());",
      },
    ],
  },
  {
    file: "lib/notify/group-messages.ts",
    tests: ["test/unit/notify/grouped-messages.test.ts"],
    faults: [
      {
        what: "an Alert of errors does not know the objects that wait for the announced cause",
        find: 'if (relation?.kind === "waits" && !isSent && grouped.isHeldBack)',
        replace: 'if (relation?.kind === "waits" && !isSent && grouped.isHeldBack && relation.why !== undefined)',
      },
      {
        what: "a second outage within five minutes has no end",
        find: "grouped.isSent || (own !== undefined && grouped.isHeldBack && isOfSeverity(event, grouped.alert.spec))",
        replace: "grouped.isSent",
      },
      {
        what: "the end of an unannounced outage is announced each time",
        find: "(own !== undefined && grouped.isHeldBack &&",
        replace: "(grouped.isHeldBack &&",
      },
    ],
  },
  {
    file: "lib/notify/listed-alerts.ts",
    tests: dispatch,
    faults: [
      {
        what: "Alerts are listed for each event",
        find: "clock.monotonic() - known.at < listedMs",
        replace: "clock.monotonic() - known.at < 0",
      },
    ],
  },
  {
    file: "lib/notify/deliver.ts",
    tests: deliver,
    faults: [
      {
        what: "Services are reached whatever the setting says",
        find: "serviceNamespaces: namespaces = [],",
        replace: 'serviceNamespaces: namespaces = ["monitoring"],',
      },
      {
        what: "values of Secrets are shown",
        find: "safeMessage(maskValues(messageOf(error), delivery.hidden))",
        replace: "safeMessage(messageOf(error))",
      },
      {
        what: "an Alert that was suspended meanwhile still sends",
        find: "if (spec === undefined || spec.suspend === true) {",
        replace: "if (spec === undefined) {",
      },
      {
        what: "an outage of the cluster is reported on the Alert, and the notification is lost",
        find: "if (error instanceof ApiError) throw error;\n    // Masked",
        replace: "// Masked",
      },
    ],
  },
  {
    file: "lib/in-cluster/in-cluster-http.ts",
    tests: inCluster,
    faults: [
      {
        what: "a Provider reaches the Services of every namespace",
        find: "isOwn || namespaces.includes(namespace)",
        replace: "isOwn || namespaces.length > 0",
      },
      {
        what: "Services are reached without a listed namespace",
        find: "services === undefined || namespaces.length === 0",
        replace: "services === undefined",
      },
      {
        what: "a tenant can impersonate a user at the API server",
        find: "authorization|impersonate-.*|",
        replace: "authorization|",
      },
      {
        what: "the path of a request is not checked",
        find: "return leadsOut(pathname) ?",
        replace: "return leadsOut(pathname) && pathname === '' ?",
      },
    ],
  },
  {
    file: "lib/kube/service-proxy.ts",
    tests: ["test/unit/kube/service-proxy.test.ts"],
    faults: [
      {
        what: "a Service that answers 401 counts as an API server that refuses our credential",
        find: 'first.status === 401 && statusOf(first)?.["reason"] === "Unauthorized"',
        replace: "first.status === 401 && statusOf(first) === undefined",
      },
      {
        what: "an answer of a Service may be as long as the request allows",
        find: "Math.min(request.maxBytes, maxServiceAnswerBytes)",
        replace: "request.maxBytes",
      },
      {
        what: "a redirect of a Service points to the API server's own paths",
        find: "return `${pathname.slice(below.length)}${search}`;",
        replace: "return `${pathname}${search}`;",
      },
    ],
  },
  {
    file: "lib/notify/connect-provider.ts",
    tests: deliver,
    faults: [
      {
        what: "a Provider has no timeout",
        find: "await Promise.race([provider.post(event, limit.signal), ended]);",
        replace: "await provider.post(event, signal);",
      },
    ],
  },
  {
    file: "lib/notify/providers/pagerduty.ts",
    tests: ["test/unit/notify/providers.test.ts"],
    faults: [
      {
        what: "PagerDuty gets no metadata instead of an empty map",
        find: "metadata: new Map(Object.entries(metadata))",
        replace: "...(Object.keys(metadata).length === 0 ? {} : { metadata: new Map(Object.entries(metadata)) })",
      },
    ],
  },
  {
    file: "local/recent-notifications.ts",
    tests: ["test/unit/local/recent-notifications.test.ts"],
    faults: [
      {
        what: "all notifications are kept",
        find: "kept.splice(maxRecent);",
        replace: "",
      },
      {
        what: "a line of a message looks like an entry of its own",
        find: "replaceAll(/^/gm,",
        replace: "replace(/^/,",
      },
    ],
  },
  {
    file: "local/start-receiver.ts",
    tests: ["test/unit/local/start-receiver.test.ts"],
    faults: [
      {
        what: "the page of notifications is shown through a tunnel",
        find: "headers[name] !== undefined",
        replace: "headers[name] === name",
      },
    ],
  },
  {
    file: "lib/notify/read-settings.ts",
    tests: settings,
    faults: [
      {
        what: "an empty address of the Secret leaves that of the spec",
        find: 'address: rest.address ?? spec.address ?? "",',
        replace: 'address: (rest.address === "" ? undefined : rest.address) ?? spec.address ?? "",',
      },
      {
        what: "the system's authorities count beside those of the Provider",
        find: "return trust.ca === undefined ? trust : { ...trust, isCaAlone: true };",
        replace: "return trust;",
      },
      {
        what: "a username or password alone counts as a login",
        find: `if (username && !password) return \`\${subject}: malformed basic auth - has 'username' but missing 'password'\`;
  if (password && !username)`,
        replace: "if (username && password && subject === '')",
      },
    ],
  },
  {
    file: "lib/notify/mask.ts",
    tests: deliver,
    faults: [
      {
        what: "an address without its host is shown",
        find: "search, `${pathname}${search}`]",
        replace: "search].filter((part) => part !== pathname)",
      },
    ],
  },
  {
    file: "lib/core/ports/event-windows.ts",
    tests: ["test/contract/local-state.test.ts"],
    faults: [
      {
        what: "a window starts with its first event, not with the end of the one before",
        find: "return now - last < windowMs ? undefined : last + windowMs;",
        replace: "return now - last < windowMs ? undefined : now;",
      },
    ],
  },
  {
    file: "lib/flows/record-event.ts",
    tests: ["test/unit/flows/record-event.test.ts"],
    faults: [
      {
        what: "Alerts get traces",
        find: "if (isTrace === true || run.events === undefined) return;",
        replace: "if (run.events === undefined) return;",
      },
      {
        what: "a run that has lost its lease sends to Alerts",
        find: "  run.assertLease();\n",
        replace: "",
      },
      {
        what: "a process killed after an Event does not send it to Alerts",
        find: "  await tell(event, telling, run);\n  await leasedCluster(cluster, run).create(event, { manager: event.reportingComponent }, run.signal);",
        replace:
          "  await leasedCluster(cluster, run).create(event, { manager: event.reportingComponent }, run.signal);\n  await tell(event, telling, run);",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/cached-run.ts",
    tests: ["test/e2e/flow/unchanged-run.test.ts"],
    faults: [
      {
        what: "Alerts get the result of a run with cached objects that must start again",
        find: "await reconcile(untold(run), refusing.deps)",
        replace: "await reconcile(run, refusing.deps)",
      },
    ],
  },
  {
    file: "lib/notify/providers/sentry.ts",
    tests: ["test/unit/notify/sentry.test.ts"],
    faults: [
      {
        what: "a span at Sentry has no origin",
        find: 'tags, origin: "manual", ...moment',
        replace: "tags, ...moment",
      },
    ],
  },
];
