/** The gate of all changes of metadata: what is to be changed is seen, sent as one `bulk`, and can be taken back. */
import { signal } from '@preact/signals';
import { equalJson, type Json, type JsonObject } from '../model/json.ts';
import { isDestructive, type Step } from '../model/steps.ts';
import { type TableAddress, tableSteps } from '../model/table-entry.ts';
import { type Entries, type MetadataPart, readEntries } from './entries.ts';
import { Failure, failureOf } from './failure.ts';
import { perform } from './metadata.ts';
import { overview, refreshOverview } from './overview.ts';

export interface Change {
  /** Such as `select of customer on public.album`. */
  readonly title: string;
  /** The tables whose entries it is about: the steps are made from what they are now. */
  readonly tables?: readonly TableAddress[];
  /** Other parts of the metadata that it is about. */
  readonly parts?: readonly MetadataPart[];
  /** @param entries of `tables` @param parts as they are now @throws Error when it cannot be made */
  steps(entries: readonly (JsonObject | null)[], parts: readonly Json[]): readonly Step[];
  /** What takes it back, for changes of something else than tables; of `parts` as they were, where they are named, and of the answer. */
  readonly inverse?: readonly Step[] | ((parts: readonly Json[], answer: Json) => readonly Step[]);
  /** Shown before it is sent, even where nothing is dropped. */
  readonly review?: boolean;
  /** The object that is edited; undefined for changes that replace nothing. */
  readonly draft?: Draft;
}

/** The object that a draft replaces. If another one is stored by now, the review shows both, and nothing is sent before it is confirmed there. */
export interface Draft {
  /** The object as it was stored when the draft began; `null` if there was none. */
  readonly before: Json;
  /** Returns the object as it is stored now, from `tables` and `parts` of the change; `null` if there is none. */
  now(entries: readonly (JsonObject | null)[], parts: readonly Json[]): Json;
  /** Returns the object as the draft makes it of what is stored now; `null` if it is removed. */
  after(entries: readonly (JsonObject | null)[], parts: readonly Json[]): Json;
  /** Version of the metadata that the draft began with. */
  readonly version?: number;
  /** Replaces the draft by the stored object, in its editor. */
  discard?(): void;
}

/** Objects that were changed since a draft or a review of them began. */
export interface Conflict {
  readonly before: Json;
  readonly now: Json;
  /** The draft; undefined if the change is made of what is stored now. */
  readonly after?: Json;
}

export interface AppliedChange {
  readonly title: string;
  readonly at: Date;
  readonly version: number;
  readonly steps: readonly Step[];
  /** Returns the steps that take it back, with the version that they were made for. */
  undo: (() => Promise<{ readonly steps: readonly Step[]; readonly version: number | undefined }>) | undefined;
}

/** A change that waits for its review. */
export interface PendingChange {
  readonly change: Change;
  readonly read: Entries;
  readonly steps: readonly Step[];
  readonly failure: Failure | undefined;
  /** Undefined while the stored objects are those that the change began with. */
  readonly conflict: Conflict | undefined;
  readonly finish: (result: Json | null) => void;
}

export const sessionChanges = signal<readonly AppliedChange[]>([]);
export const pending = signal<PendingChange | null>(null);
export const lastApplied = signal<AppliedChange | null>(null);

const NOTHING_READ: Entries = { version: 0, entries: [], parts: [] };

/** Whether it says what it is about. */
function isAboutSomething({ tables, parts }: Change): boolean {
  return tables !== undefined || parts !== undefined;
}

function readConcerned({ tables = [], parts = [] }: Change): Promise<Entries> {
  return readEntries(tables, parts);
}

function isSame(a: Entries, b: Entries): boolean {
  return equalJson(a.entries as Json, b.entries as Json) && equalJson(a.parts, b.parts);
}

/** The conflict between a draft and what is stored now. */
function conflictOf({ draft }: Change, { entries, parts }: Entries): Conflict | undefined {
  if (draft === undefined) return undefined;
  const now = draft.now(entries, parts);
  return equalJson(now, draft.before) ? undefined : { before: draft.before, now, after: draft.after(entries, parts) };
}

/** The objects of a change as one value. */
function objectsOf({ entries, parts }: Entries): Json {
  const [first = null, ...others] = [...entries, ...parts];
  return others.length === 0 ? first : [first, ...others];
}

/**
 * Makes a change: at once, or after a review where something is dropped, or where a draft is of another object than is stored now.
 * @returns the answer; null when it was given up in the review
 * @throws Failure of the service, where no review shows it
 */
export async function makeChange(change: Change): Promise<Json | null> {
  const read = isAboutSomething(change) ? await readConcerned(change) : { ...NOTHING_READ, version: overview.peek()?.version ?? 0 };
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
    if (failure.code !== 'conflict' || !isAboutSomething(change)) throw failure;
    return review({ failure, ...(await readAgain(change, read)) });
  }
}

/** The change on top of what is stored now. */
async function readAgain(change: Change, before: Entries): Promise<Pick<PendingChange, 'read' | 'steps' | 'conflict'>> {
  const read = await readConcerned(change);
  const other = isSame(before, read) ? undefined : { before: objectsOf(before), now: objectsOf(read) };
  return { read, steps: change.steps(read.entries, read.parts), conflict: conflictOf(change, read) ?? other };
}

/** A permission that is made anew right after it was dropped is not lost. */
function isDropped(steps: readonly Step[]): (step: Step) => boolean {
  const made = new Set(steps.filter(({ type }) => type.includes('_permission')).map(({ type, args }) => keyOf(dropOf(type), args)));
  return (step) => isDestructive(step) && !made.has(keyOf(step.type, step.args));
}

function dropOf(type: string): string {
  return type.replace(/(^|_)(?:create|add)_/, '$1drop_');
}

const PLACE = ['source', 'table', 'function', 'remote_schema', 'action', 'role'] as const;

function keyOf(type: string, args: JsonObject): string {
  return JSON.stringify([type, ...PLACE.map((key) => args[key] ?? null)]);
}

/** Sends a reviewed change. A conflict about other objects is no conflict; one about the same stays in the review. */
export async function applyPending(): Promise<void> {
  const current = pending.peek();
  if (current === null) return;
  try {
    const answer = await apply(current.change, current.read, current.steps);
    pending.value = null;
    current.finish(answer);
  } catch (error) {
    const failure = failureOf(error);
    if (failure.code !== 'conflict' || !isAboutSomething(current.change)) {
      pending.value = { ...current, failure };
      return;
    }
    try {
      pending.value = { ...current, failure, ...(await readAgain(current.change, current.read)) };
    } catch (refused) {
      pending.value = { ...current, failure: failureOf(refused) };
    }
  }
}

export function giveUpPending(): void {
  const current = pending.peek();
  pending.value = null;
  current?.finish(null);
}

async function apply(change: Change, read: Entries, steps: readonly Step[]): Promise<Json> {
  let seen = read;
  let answer: Json;
  try {
    answer = await perform(steps, seen.version === 0 ? undefined : seen.version);
  } catch (error) {
    const failure = failureOf(error);
    if (failure.code !== 'conflict') throw failure;
    // Another version is no obstacle while the objects concerned are as they were seen.
    if (isAboutSomething(change)) {
      const now = await readConcerned(change);
      if (!isSame(now, read)) throw failure;
      seen = now;
    } else {
      await refreshOverview();
      seen = { ...NOTHING_READ, version: overview.peek()?.version ?? 0 };
    }
    answer = await perform(steps, seen.version);
  }
  const after = isAboutSomething(change) ? await readConcerned(change) : NOTHING_READ;
  await refreshOverview();
  const applied: AppliedChange = {
    title: change.title,
    at: new Date(),
    version: after.version || (overview.peek()?.version ?? 0),
    steps,
    undo: undoOf(change, read, after, answer),
  };
  sessionChanges.value = [...sessionChanges.peek(), applied];
  lastApplied.value = applied;
  return answer;
}

function undoOf(change: Change, before: Entries, after: Entries, answer: Json): AppliedChange['undo'] {
  const { tables, inverse } = change;
  if (inverse === undefined && tables === undefined) return undefined;
  return async () => {
    const now = isAboutSomething(change) ? await readConcerned(change) : undefined;
    if (now !== undefined && !isSame(now, after))
      throw new Failure('The objects have been changed since; undo would lose that.', { code: 'changed-since' });
    const steps =
      inverse === undefined
        ? (tables ?? []).flatMap((address, index) => tableSteps(address, after.entries[index] ?? null, before.entries[index] ?? null))
        : typeof inverse === 'function'
          ? inverse(before.parts, answer)
          : inverse;
    return { steps, version: now?.version };
  };
}

/** Takes a change back, while its objects are as it left them. @throws Failure */
export async function undo(applied: AppliedChange): Promise<void> {
  const { steps, version } = (await applied.undo?.()) ?? { steps: [], version: undefined };
  if (steps.length === 0) return;
  try {
    await perform(steps, version);
  } catch (error) {
    // Another change came between the look at the objects and this: they are looked at once more.
    if (failureOf(error).code !== 'conflict') throw error;
    const again = await applied.undo?.();
    if (again !== undefined) await perform(again.steps, again.version);
  }
  await refreshOverview();
  const back: AppliedChange = {
    title: `Undone: ${applied.title}`,
    at: new Date(),
    version: overview.peek()?.version ?? 0,
    steps,
    undo: undefined,
  };
  applied.undo = undefined;
  sessionChanges.value = [...sessionChanges.peek(), back];
}
