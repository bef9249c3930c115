import { servedKind } from "../lib/api/kinds/declaration.ts";
import { declaredNotificationProvider } from "../lib/api/kinds/notification-provider.ts";
import { awsNotificationTargets } from "../lib/aws/notification-targets.ts";
import { celModule, wasmCel } from "../lib/cel/wasm-cel.ts";
import { homeNetwork } from "../lib/core/network/network-policy.ts";
import type { Dial } from "../lib/core/ports/dial.ts";
import { type Http, HttpError } from "../lib/core/ports/http.ts";
import { httpClient } from "../lib/http/http-client.ts";
import { inClusterHttp } from "../lib/in-cluster/in-cluster-http.ts";
import { commitStatuses } from "../lib/notify/commit-status-id.ts";
import { whyNoAnswer } from "../lib/notify/last-attempt.ts";
import { awsProviders } from "../lib/notify/providers/aws-providers.ts";
import { providers } from "../lib/notify/providers/providers.ts";
import { sendTestEvent, TestEventFailure } from "../lib/notify/test-event.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { hintElsewhere, withHint } from "./hint-elsewhere.ts";
import { isSuspended, textAt } from "./objects/read-object.ts";
import type { Session } from "./session.ts";

export interface TestOptions {
  /** Each `key=value`. */
  readonly metadata?: readonly string[];
}

/**
 * `notify test`: sends a test event to a Provider from this machine, by the implementation that sends the events of Alerts, and prints who was
 * asked and what was answered. Throws with the reason, in which no value of a Secret is shown.
 */
export async function testProvider(name: string, { metadata = [] }: TestOptions, session: Session): Promise<void> {
  const { cluster, namespace, services, terminal, signal } = session;
  const given = metadataOf(metadata);
  const live = await cluster.get({ ...servedKind(declaredNotificationProvider), namespace, name }, signal);
  if (live === undefined) {
    const absent = `Provider object '${name}' not found in "${namespace}" namespace`;
    throw new Error(withHint(absent, await hintElsewhere(declaredNotificationProvider, name, session)));
  }
  const type = textAt(live, "spec", "type");
  if (isSuspended({}, live)) {
    terminal.warning("the provider is suspended: Alerts send nothing to it");
  }
  if (textAt(live, "spec", "serviceAccountName") !== "") {
    terminal.warning("spec.serviceAccountName is not used from this machine");
  }
  if (["eventbridge", "sns", "sqs"].includes(type)) {
    terminal.warning("the AWS identity of this machine is used, and not that of the function notify");
  }
  terminal.action(`sending a test event to alert provider ${name} of type ${type} in ${namespace} namespace`);
  const client = httpClient({ network: homeNetwork });
  // With the rights of the user: the setting of the installation is not known here.
  const http = inClusterHttp(client, {
    services,
    namespaces: "all",
    own: namespace,
    setting: "notification-service-namespaces",
  });
  const cel = wasmCel({ file: celModule, threads: 1, idleMs: 1_000 });
  const clock = systemClock;
  try {
    const targets = awsNotificationTargets({ connection: {}, clock, isAllowed: () => true });
    await sendTestEvent(
      live,
      given,
      {
        ...{ clock, home: cluster, commitStatusOf: commitStatuses(cel) },
        providers: { ...providers, ...awsProviders(targets) },
        parts: {
          ...told({ http, dial: client.dial }, (line) => terminal.action(line)),
          now: () => clock.now(),
          sleep: (ms, stop) => clock.sleep(ms, stop),
        },
      },
      signal,
    );
  } catch (error) {
    if (!(error instanceof TestEventFailure)) throw error;
    throw new Error(`test event not sent: ${error.message}`, { cause: error });
  } finally {
    client.close();
    await cel.close();
  }
  terminal.success("test event sent");
}

function metadataOf(texts: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    texts.map((text) => {
      const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
      if (key === undefined || value === undefined) {
        throw new Error(`invalid metadata '${text}', must be key=value`);
      }
      return [key, value];
    }),
  );
}

interface Told {
  readonly http: Http;
  readonly dial: Dial;
}

/**
 * Tells which host was asked and what it answered, or why it did not. Paths and queries may hold a secret.
 *
 * @internal
 */
export function told({ dial, http }: Told, tell: (line: string) => void): Told {
  return {
    http: {
      async send(request, signal) {
        const to = `${request.method} to ${new URL(request.url).host}`;
        try {
          const answer = await http.send(request, signal);
          tell(`${to}: answered ${answer.status}`);
          return answer;
        } catch (error) {
          if (error instanceof HttpError) tell(`${to}: no answer (${whyNoAnswer(error)})`);
          throw error;
        }
      },
    },
    async dial(target, signal) {
      const connection = await dial(target, signal);
      tell(`connected to ${target.host}:${target.port}`);
      return connection;
    },
  };
}
