/** Overview of the metadata: read at the start, every 5 s while the page is visible, and after each change. */
import { signal } from '@preact/signals';
import { decodeOverview, type Overview } from '../model/overview.ts';
import { type Failure, failureOf, isAbort } from './failure.ts';
import { readOperation } from './metadata.ts';
import { access } from './session.ts';

const EVERY_MS = 5000;

export const overview = signal<Overview | undefined>(undefined);
export const overviewFailure = signal<Failure | undefined>(undefined);
/** Time of the last successful read. */
const overviewAt = signal(0);

let running: Promise<void> | undefined;
let again = false;

/** Reads the overview. Calls during a read share one more read after it. */
export async function refreshOverview(): Promise<void> {
  if (running !== undefined) {
    again = true;
    return running;
  }
  running = (async () => {
    do {
      again = false;
      try {
        const next = await readOverview();
        if (next !== undefined) overview.value = next;
        overviewFailure.value = undefined;
        overviewAt.value = Date.now();
      } catch (error) {
        if (!isAbort(error)) overviewFailure.value = failureOf(error);
      }
    } while (again);
    running = undefined;
  })();
  return running;
}

setInterval(() => {
  if (document.visibilityState === 'visible' && access.peek() === 'granted') void refreshOverview();
}, EVERY_MS);

async function readOverview(): Promise<Overview | undefined> {
  const known = overview.peek();
  return decodeOverview(await readOperation('get_overview', known === undefined ? {} : { if_not: known.tag }));
}
