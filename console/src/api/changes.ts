/** Single path for all changes of metadata: review, one `bulk` request, undo. */
import { signal } from '@preact/signals';
import { equalJson, type Json, type JsonObject } from '../model/json.ts';
import { isDestructive, type Step } from '../model/steps.ts';
import { type TableAddress, tableSteps } from '../model/table-entry.ts';
import { type Entries, type MetadataPart, readEntries } from './entries.ts';
import { Failure, failureOf } from './failure.ts';
import { runSteps } from './metadata.ts';
import { overview, refreshOverview } from './overview.ts';

export interface Change {
  /** Such as `select permission of customer on public.album`. */
  readonly title: string;
  /** Tables whose entries the change affects; `steps` receives the stored entries. */
  readonly tables?: readonly TableAddress[];
  /** Other parts of the metadata that the change affects. */
  readonly parts?: readonly MetadataPart[];
  /** @param entries stored entries of `tables` @param parts stored values of `parts` @throws Error if the change is not possible */
  steps(entries: readonly (JsonObject | null)[], parts: readonly Json[]): readonly Step[];
  /** Steps that undo changes of anything but tables, from `parts` as they were before and from the response. */
  readonly inverse?: readonly Step[] | ((parts: readonly Json[], response: Json) => readonly Step[]);
  /** Shows the review even if nothing is dropped. */
  readonly review?: boolean;
  /** Request with the steps, as the user wrote it; it is sent as it is. */
  readonly written?: JsonObject;
  /** Edited object; undefined for changes that replace nothing. */
  readonly draft?: Draft;
}

/** Object that a draft replaces. If it has changed since the draft began, the review shows both, and nothing is sent without confirmation. */
export interface Draft {
  /** Object as it was stored when the draft began; `null` if there was none. */
  readonly before: Json;
  /** Returns the stored object, from `tables` and `parts` of the change; `null` if there is none. */
  now(entries: readonly (JsonObject | null)[], parts: readonly Json[]): Json;
  /** Returns the object with the draft applied to what is stored; `null` if the draft removes it. */
  after(entries: readonly (JsonObject | null)[], parts: readonly Json[]): Json;
  /** Metadata version when the draft began. */
  readonly version?: number;
  /** Replaces the draft in its editor by the stored object. */
  discard?(): void;
}

/** Objects that changed since a draft or its review began. */
export interface Conflict {
  readonly before: Json;
  readonly now: Json;
  /** Result of the draft; undefined if the change is made from the stored objects. */
  readonly after?: Json;
}

export interface AppliedChange {
  readonly title: string;
  readonly at: Date;
  readonly version: number;
  readonly steps: readonly Step[];
  readonly written: JsonObject | undefined;
  /** Returns the steps that undo it, with the version that they apply to. */
  undo: (() => Promise<{ readonly steps: readonly Step[]; readonly version: number | undefined }>) | undefined;
}

/** A change in review. */
export interface PendingChange {
  readonly change: Change;
  readonly read: Entries;
  readonly steps: readonly Step[];
  readonly failure: Failure | undefined;
  /** Undefined while the stored objects are unchanged. */
  readonly conflict: Conflict | undefined;
  readonly finish: (result: Json | null) => void;
}

export const sessionChanges = signal<readonly AppliedChange[]>([]);
export const pending = signal<PendingChange | null>(null);
export const lastApplied = signal<AppliedChange | null>(null);

const NOTHING_READ: Entries = { version: 0, entries: [], parts: [] };

/** Returns true if the change lists the objects that it affects. */
function hasObjects({ tables, parts }: Change): boolean {
  return tables !== undefined || parts !== undefined;
}

function readObjects({ tables = [], parts = [] }: Change): Promise<Entries> {
  return readEntries(tables, parts);
}

function isSame(a: Entries, b: Entries): boolean {
  return equalJson(a.entries as Json, b.entries as Json) && equalJson(a.parts, b.parts);
}

/** Compares the draft's basis with the stored object. */
function conflictOf({ draft }: Change, { entries, parts }: Entries): Conflict | undefined {
  if (draft === undefined) return undefined;
  const now = draft.now(entries, parts);
  return equalJson(now, draft.before) ? undefined : { before: draft.before, now, after: draft.after(entries, parts) };
}

/** Objects of a change as one value. */
function objectsOf({ entries, parts }: Entries): Json {
  const [first = null, ...others] = [...entries, ...parts];
  return others.length === 0 ? first : [first, ...others];
}

/**
 * Makes a change: at once, or after a review if something is dropped or the edited object has changed meanwhile.
 * @returns the response; `null` if the review was discarded or nothing changes
 * @throws Failure of the service, unless a review shows it
 */
export async function makeChange(change: Change): Promise<Json | null> {
  const read = hasObjects(change) ? await readObjects(change) : { ...NOTHING_READ, version: overview.peek()?.version ?? 0 };
  const steps = change.steps(read.entries, read.parts);
  if (steps.length === 0) return null;
  const review = (state: Omit<PendingChange, 'change' | 'finish'>): Promise<Json | null> =>
    new Promise((finish) => {
      pending.value = { change, ...state, finish };
    });
  const conflict = conflictOf(change, read);
  if (change.review === true || conflict !== undefined || steps.some(isDropped(steps))) {
    return review({ read, steps, failure: undefined, conflict });
  }
  try {
    return await apply(change, read, steps);
  } catch (error) {
    const failure = failureOf(error);
    if (failure.code !== 'conflict' || !hasObjects(change)) throw failure;
    return review({ failure, ...(await readAgain(change, read)) });
  }
}

/** Applies the change to the objects as they are stored now. */
async function readAgain(change: Change, before: Entries): Promise<Pick<PendingChange, 'read' | 'steps' | 'conflict'>> {
  const read = await readObjects(change);
  const other = isSame(before, read) ? undefined : { before: objectsOf(before), now: objectsOf(read) };
  return { read, steps: change.steps(read.entries, read.parts), conflict: conflictOf(change, read) ?? other };
}

/** Returns a test for steps that drop something; a permission that is recreated in the same change does not count. */
function isDropped(steps: readonly Step[]): (step: Step) => boolean {
  const created = new Set(steps.filter(({ type }) => type.includes('_permission')).map(({ type, args }) => keyOf(dropOf(type), args)));
  return (step) => isDestructive(step) && !created.has(keyOf(step.type, step.args));
}

function dropOf(type: string): string {
  return type.replace(/(^|_)(?:create|add)_/, '$1drop_');
}

const PLACE = ['source', 'table', 'function', 'remote_schema', 'action', 'role'] as const;

function keyOf(type: string, args: JsonObject): string {
  return JSON.stringify([type, ...PLACE.map((key) => args[key] ?? null)]);
}

/** Sends a reviewed change. A conflict about its own objects stays in the review; changes of other objects do not matter. */
export async function applyPending(): Promise<void> {
  const current = pending.peek();
  if (current === null) return;
  try {
    const response = await apply(current.change, current.read, current.steps);
    pending.value = null;
    current.finish(response);
  } catch (error) {
    const failure = failureOf(error);
    if (failure.code !== 'conflict' || !hasObjects(current.change)) {
      pending.value = { ...current, failure };
      return;
    }
    try {
      pending.value = { ...current, failure, ...(await readAgain(current.change, current.read)) };
    } catch (error) {
      pending.value = { ...current, failure: failureOf(error) };
    }
  }
}

export function discardPending(): void {
  const current = pending.peek();
  pending.value = null;
  current?.finish(null);
}

async function apply(change: Change, read: Entries, steps: readonly Step[]): Promise<Json> {
  const { written } = change;
  let basis = read;
  let response: Json;
  try {
    response = await runSteps(steps, { resourceVersion: basis.version === 0 ? undefined : basis.version, written });
  } catch (error) {
    const failure = failureOf(error);
    if (failure.code !== 'conflict') throw failure;
    // A new version does not matter while the affected objects are unchanged.
    if (hasObjects(change)) {
      const now = await readObjects(change);
      if (!isSame(now, read)) throw failure;
      basis = now;
    } else {
      await refreshOverview();
      basis = { ...NOTHING_READ, version: overview.peek()?.version ?? 0 };
    }
    response = await runSteps(steps, { resourceVersion: basis.version, written });
  }
  const after = hasObjects(change) ? await readObjects(change) : NOTHING_READ;
  await refreshOverview();
  const applied: AppliedChange = {
    title: change.title,
    at: new Date(),
    version: after.version || (overview.peek()?.version ?? 0),
    steps,
    written,
    undo: undoOf(change, read, after, response),
  };
  sessionChanges.value = [...sessionChanges.peek(), applied];
  lastApplied.value = applied;
  return response;
}

function undoOf(change: Change, before: Entries, after: Entries, response: Json): AppliedChange['undo'] {
  const { tables, inverse } = change;
  if (inverse === undefined && tables === undefined) return undefined;
  return async () => {
    const now = hasObjects(change) ? await readObjects(change) : undefined;
    if (now !== undefined && !isSame(now, after))
      throw new Failure('These objects have changed since. Undo would overwrite the later change.', { code: 'changed-since' });
    const steps =
      inverse === undefined
        ? (tables ?? []).flatMap((address, index) => tableSteps(address, after.entries[index] ?? null, before.entries[index] ?? null))
        : typeof inverse === 'function'
          ? inverse(before.parts, response)
          : inverse;
    return { steps, version: now?.version };
  };
}

/** Undoes a change. @throws Failure if its objects have changed since */
export async function undo(applied: AppliedChange): Promise<void> {
  const { steps, version } = (await applied.undo?.()) ?? { steps: [], version: undefined };
  if (steps.length === 0) return;
  try {
    await runSteps(steps, { resourceVersion: version });
  } catch (error) {
    // Another change came in between: check the objects once more.
    if (failureOf(error).code !== 'conflict') throw error;
    const again = await applied.undo?.();
    if (again !== undefined) await runSteps(again.steps, { resourceVersion: again.version });
  }
  await refreshOverview();
  const back: AppliedChange = {
    title: `Undo: ${applied.title}`,
    at: new Date(),
    version: overview.peek()?.version ?? 0,
    steps,
    written: undefined,
    undo: undefined,
  };
  applied.undo = undefined;
  sessionChanges.value = [...sessionChanges.peek(), back];
}
