import { servedKind } from "../api/kinds/declaration.ts";
import { declaredNotificationProvider } from "../api/kinds/notification-provider.ts";
import { NotificationProviderSpec } from "../api/notification-provider.ts";
import type { Cause, EventRelation } from "../core/event-relation.ts";
import { messageOf } from "../core/failure.ts";
import { nameFault, subject } from "../core/object-ref.ts";
import type { CauseGroup, CauseGroupKey, CauseGroups } from "../core/ports/cause-groups.ts";
import type { Clock } from "../core/ports/clock.ts";
import { ApiError } from "../core/ports/cluster.ts";
import type { HomeCluster } from "../core/ports/home-and-target.ts";
import type { Log } from "../core/ports/log.ts";
import { afterFailure, afterWaiting, decideOver, decideWaiting, sent } from "./cause-group.ts";
import { firstWaitingText, waitedText, waitingText } from "./group-text.ts";
import { isGroupedType } from "./grouped-types.ts";
import type { ListedAlert } from "./listed-alerts.ts";
import { isOfSeverity } from "./match-alert.ts";
import { ownPrefix } from "./metadata-keys.ts";
import type { NotificationEvent } from "./notification-event.ts";

export interface GroupingDeps {
  readonly groups: CauseGroups;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
}

/** An event on its way to one Alert. */
export interface Grouped {
  readonly cluster: string;
  readonly home: Pick<HomeCluster, "get">;
  readonly alert: ListedAlert;
  readonly event: NotificationEvent;
  readonly relation: EventRelation | undefined;
  /** Whether Flux would send it. */
  readonly isSent: boolean;
  /** Whether it is not sent only for its severity, or since the same was sent not long ago: it may still belong to a group. */
  readonly isHeldBack: boolean;
}

/** The messages in place of the event. */
export interface GroupedMessages {
  readonly events: readonly NotificationEvent[];
  /** Writes down that these are in the queue. Throws nothing but the reason of the signal. */
  readonly afterwards?: (signal: AbortSignal) => Promise<void>;
}

/** Set to `"false"` on an Alert: its messages are not grouped. */
export const groupAnnotation = "sluice.dev/group";

/**
 * The messages that an Alert sends for an event, grouped by cause (docs/maintainers/adr/0057). What has to do with no other object is sent as it is,
 * and so is everything where the groups cannot be read or written. Throws nothing but the reason of the signal.
 */
export async function groupMessages(
  grouped: Grouped,
  deps: GroupingDeps,
  signal: AbortSignal,
): Promise<GroupedMessages> {
  const { alert, event, isSent, relation } = grouped;
  const asFlux = { events: isSent ? [event] : [] };
  try {
    if (alert.spec.suspend === true || alert.live.metadata.annotations?.[groupAnnotation] === "false") return asFlux;
    // An event that the Alert does not send may still end a group.
    if (relation?.kind === "recovered") return await recovered(grouped, relation.from, deps, signal);
    if (relation?.kind === "waits" && !isSent && grouped.isHeldBack)
      return await joining(grouped, relation, deps, signal);
    if (relation === undefined || !isSent || !(await isReadByPeople(grouped, signal))) return asFlux;
    switch (relation.kind) {
      case "waits":
        return await waiting(grouped, relation, deps, signal);
      case "failed":
        return await failing(grouped, deps, signal);
    }
  } catch (error) {
    signal.throwIfAborted();
    logFault(grouped, deps, error);
    return asFlux;
  }
}

/** After this number of conflicts with other writers of the group, the message is sent. */
const maxTries = 10;

async function waiting(
  grouped: Grouped,
  { cause, why }: Extract<EventRelation, { readonly kind: "waits" }>,
  deps: GroupingDeps,
  signal: AbortSignal,
): Promise<GroupedMessages> {
  const { clock, groups } = deps;
  const { event } = grouped;
  const self = subject(event.involvedObject);
  const reason = why === undefined ? event.reason : `${event.reason}: ${why}`;
  for (let tries = 0; tries < maxTries; tries++) {
    const now = clock.now();
    const at = timeOf(event, now);
    const { key, stored } = await rootGroup(grouped, cause, deps, signal);
    // That an object on the way to the root waits too is no news.
    const known = subject(key.cause) === subject(cause) ? undefined : stored?.group.reasons[0];
    const { isSent, joins, next } = decideWaiting(stored?.group, { at, reason: known ?? reason }, now);
    if (next !== undefined && (await groups.put(key, next, stored?.version, now, signal)) === undefined) continue;
    const join = async (stop: AbortSignal): Promise<void> => {
      if (joins === undefined) return;
      await groups.join(key, joins, self, now, stop);
      // In a circle.
      if (subject(key.cause) === self) return;
      const waits = { at, root: key.cause };
      const own = keyOf(grouped, event.involvedObject);
      await change(own, (group, then) => afterWaiting(group, waits, then), deps, stop);
    };
    if (!isSent) {
      await join(signal);
      return { events: [] };
    }
    return {
      events: [withText(event, firstWaitingText(key.cause))],
      afterwards: (stop) =>
        orLogged(grouped, deps, stop, async () => {
          await join(stop);
          if (next !== undefined) await noteSent(key, next, deps, stop);
        }),
    };
  }
  throw new Error("others write the same group");
}

/**
 * What waits for a cause that the Alert has told of, where its own message is not sent: an Alert of errors sends none, since to wait is no
 * error. The end of the outage names it.
 */
async function joining(
  grouped: Grouped,
  { cause }: Extract<EventRelation, { readonly kind: "waits" }>,
  deps: GroupingDeps,
  signal: AbortSignal,
): Promise<GroupedMessages> {
  const { key, stored } = await rootGroup(grouped, cause, deps, signal);
  if (stored === undefined || stored.group.over !== undefined) return { events: [] };
  const { opened } = stored.group;
  const self = subject(grouped.event.involvedObject);
  if (subject(key.cause) !== self && !(await deps.groups.hasJoined(key, opened, self, signal))) {
    await deps.groups.join(key, opened, self, deps.clock.now(), signal);
  }
  return { events: [] };
}

/** So many objects wait for one another in a row, and the last of them counts as the root. */
const maxChain = 20;

/** The group of what the cause waits for itself, and so on; that of the cause if it has told of no other one. */
async function rootGroup(grouped: Grouped, cause: Cause, { clock, groups }: GroupingDeps, signal: AbortSignal) {
  let key = keyOf(grouped, cause);
  let stored = await groups.get(key, clock.now(), signal);
  for (let length = 0; length < maxChain; length++) {
    const { group } = stored ?? {};
    if (group?.root === undefined || group.over !== undefined) break;
    const next = keyOf(grouped, group.root);
    const root = await groups.get(next, clock.now(), signal);
    // Then nothing is known any more about what the cause waits for.
    if (root === undefined || root.group.over !== undefined) break;
    [key, stored] = [next, root];
  }
  return { key, stored };
}

/** What fails by itself is always sent, and says who waits for it. */
async function failing(grouped: Grouped, deps: GroupingDeps, signal: AbortSignal): Promise<GroupedMessages> {
  const { clock, groups } = deps;
  const { event } = grouped;
  const key = keyOf(grouped, event.involvedObject);
  const stored = await groups.get(key, clock.now(), signal);
  const isOpen = stored !== undefined && stored.group.over === undefined;
  const names = isOpen ? await groups.waiting(key, stored.group.opened, signal) : [];
  return {
    events: [names.length === 0 ? event : withText(event, waitingText(names))],
    afterwards: (stop) =>
      orLogged(grouped, deps, stop, () =>
        change(key, (group, now) => afterFailure(group, { at: timeOf(event, now) }, now), deps, stop),
      ),
  };
}

async function recovered(
  grouped: Grouped,
  from: readonly Cause[],
  deps: GroupingDeps,
  signal: AbortSignal,
): Promise<GroupedMessages> {
  const { event } = grouped;
  const self = event.involvedObject;
  const own = await orLogged(grouped, deps, signal, () => endGroup(grouped, self, deps, signal));
  // The end of an outage that was told is told too, also where the same text was sent at the end of another one not long ago.
  const isSent = grouped.isSent || (own !== undefined && grouped.isHeldBack && isOfSeverity(event, grouped.alert.spec));
  const events: NotificationEvent[] = [];
  const written: GroupedMessages["afterwards"][] = [own?.afterwards];
  if (own !== undefined && own.names.length > 0) {
    const isShown = isSent && !isUpdate(event);
    // The Alert may not send this event, and so not its text either.
    events.push(isShown ? withText(event, waitedText(own.names)) : overEvent(event, self, own.names));
    if (isSent && !isShown) events.push(event);
  } else if (isSent) {
    events.push(event);
  }
  for (const cause of from) {
    const other = await orLogged(grouped, deps, signal, () => endGroup(grouped, cause, deps, signal));
    if (other === undefined) continue;
    events.push(overEvent(event, cause, other.names));
    written.push(other.afterwards);
  }
  return {
    events,
    async afterwards(stop) {
      for (const write of written) await write?.(stop);
    },
  };
}

interface Ended {
  readonly names: readonly string[];
  readonly afterwards: GroupedMessages["afterwards"];
}

/** Ends the group of the cause, if it is open and the event tells that it is over: one on the cause, or on an object that waited. */
async function endGroup(
  grouped: Grouped,
  cause: Cause,
  deps: GroupingDeps,
  signal: AbortSignal,
): Promise<Ended | undefined> {
  const { clock, groups } = deps;
  const self = subject(grouped.event.involvedObject);
  const key = keyOf(grouped, cause);
  for (let tries = 0; tries < maxTries; tries++) {
    const now = clock.now();
    const stored = await groups.get(key, now, signal);
    const next = decideOver(stored?.group, now);
    if (stored === undefined || next === undefined) return undefined;
    const { opened } = next;
    if (subject(cause) !== self && !(await groups.hasJoined(key, opened, self, signal))) return undefined;
    const names = await groups.waiting(key, opened, signal);
    const written = names.length === 0 ? sent(next) : next;
    if ((await groups.put(key, written, stored.version, now, signal)) === undefined) continue;
    return {
      names,
      afterwards: (stop) => orLogged(grouped, deps, stop, () => noteSent(key, written, deps, stop)),
    };
  }
  return undefined;
}

/** If several objects send a message of the same group, each records its own. */
function noteSent(key: CauseGroupKey, { opened, sending }: CauseGroup, deps: GroupingDeps, signal: AbortSignal) {
  const isOurs = (group: CauseGroup): boolean => group.opened === opened && group.sending === sending;
  return change(key, (group) => (group !== undefined && isOurs(group) ? sent(group) : undefined), deps, signal);
}

async function change(
  key: CauseGroupKey,
  changed: (group: CauseGroup | undefined, now: number) => CauseGroup | undefined,
  { clock, groups }: GroupingDeps,
  signal: AbortSignal,
): Promise<void> {
  for (let tries = 0; tries < maxTries; tries++) {
    const now = clock.now();
    const stored = await groups.get(key, now, signal);
    const next = changed(stored?.group, now);
    if (next === undefined || (await groups.put(key, next, stored?.version, now, signal)) !== undefined) return;
  }
}

async function orLogged<Result>(
  grouped: Grouped,
  deps: GroupingDeps,
  signal: AbortSignal,
  act: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await act();
  } catch (error) {
    signal.throwIfAborted();
    logFault(grouped, deps, error);
    return undefined;
  }
}

function logFault({ alert, cluster, event }: Grouped, { log }: GroupingDeps, error: unknown): void {
  const about = subject(event.involvedObject);
  log.warn("messages not grouped", {
    cluster,
    namespace: alert.namespace,
    alert: alert.name,
    about,
    error: messageOf(error),
  });
}

/** Whether people read what the Provider of the Alert sends. If the group cannot be read, the message is not grouped. */
async function isReadByPeople({ alert, home }: Grouped, signal: AbortSignal): Promise<boolean> {
  const { name } = alert.spec.providerRef;
  if (nameFault(name) !== undefined) return false;
  try {
    const ref = { ...servedKind(declaredNotificationProvider), namespace: alert.namespace, name };
    const live = await home.get(ref, signal);
    const spec = NotificationProviderSpec.safeParse(live?.["spec"]);
    return spec.success && isGroupedType(spec.data.type);
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}

function keyOf(
  { alert: { name, namespace }, cluster }: Grouped,
  { kind, name: of, namespace: within }: Cause,
): CauseGroupKey {
  return { cluster, alert: { namespace, name }, cause: { kind, namespace: within, name: of } };
}

/** When the event was recorded; now where it does not say so. */
function timeOf({ timestamp }: NotificationEvent, now: number): number {
  const at = Date.parse(timestamp);
  return Number.isNaN(at) ? now : at;
}

/** Whether only those that set the status of a commit get the event. */
function isUpdate({ involvedObject, metadata = {} }: NotificationEvent): boolean {
  return metadata[`${ownPrefix(involvedObject)}commit_status`] === "update";
}

function withText(event: NotificationEvent, text: string): NotificationEvent {
  return { ...event, message: `${event.message}\n\n${text}` };
}

/** That the cause is ready again, told by an event of it or of an object that waited for it. */
function overEvent(event: NotificationEvent, cause: Cause, waited: readonly string[]): NotificationEvent {
  const { metadata: _metadata, ...rest } = event;
  // About the object of the event: the Alert may not send events of the cause.
  return { ...rest, severity: "info", message: `${subject(cause)} is ready again. ${waitedText(waited)}` };
}
