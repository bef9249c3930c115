interface Happening {
  readonly at: number;
  readonly order: number;
  readonly happen: () => void;
}

/** Virtual time: things happen in the order of their moments, and in between everything that can run has run. */
export interface Timeline {
  /** The true time in milliseconds, which no machine knows. */
  now(): number;
  in(ms: number, happen: () => void): void;
  /** Keeps virtual time still until this, which takes real time, has ended. */
  hold(work: Promise<void>): void;
  /** Says that what happens now lets code go on, which then runs before anything else happens. */
  stir(): void;
  /** Lets everything happen until `until`, or until `done` says so. */
  play(until: number, done?: () => boolean): Promise<void>;
}

export function timeline(start: number): Timeline {
  const heap: Happening[] = [];
  let now = start;
  let order = 0;
  let stirred = true;
  const held = new Set<Promise<void>>();
  return {
    now: () => now,
    in(ms, happen) {
      order += 1;
      push(heap, { at: now + ms, order, happen });
    },
    hold(work) {
      const ended = work.finally(() => held.delete(ended));
      held.add(ended);
    },
    stir() {
      stirred = true;
    },
    async play(until, done = () => false) {
      for (;;) {
        // Most events are inside a service and do not concern a caller yet.
        if (stirred) await settled();
        stirred = false;
        if (held.size > 0) {
          await Promise.all(held);
          continue;
        }
        const next = heap[0];
        if (next === undefined || next.at > until || done()) break;
        pop(heap);
        now = next.at;
        next.happen();
      }
      if (!done()) now = Math.max(now, until);
    },
  };
}

/** A tick comes when every promise reaction has run, and costs a tenth of a turn of the event loop. */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    process.nextTick(resolve);
  });
}

function before(a: Happening | undefined, b: Happening | undefined): boolean {
  if (a === undefined || b === undefined) return a !== undefined;
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function push(heap: Happening[], item: Happening): void {
  let index = heap.push(item) - 1;
  while (index > 0) {
    const parent = (index - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || !before(item, above)) break;
    heap[index] = above;
    index = parent;
  }
  heap[index] = item;
}

function pop(heap: Happening[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let index = 0;
  for (;;) {
    const left = 2 * index + 1;
    const child = before(heap[left + 1], heap[left]) ? left + 1 : left;
    const below = heap[child];
    if (below === undefined || !before(below, last)) break;
    heap[index] = below;
    index = child;
  }
  heap[index] = last;
}
