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
}

export interface AppliedChange {
  readonly title: string;
  readonly at: Date;
  readonly version: number;
  readonly steps: readonly Step[];
  undo: (() => Promise<readonly Step[]>) | undefined;
}

/** A change that waits for its review. */
export interface PendingChange {
  readonly change: Change;
  readonly read: Entries;
  readonly steps: readonly Step[];
  readonly failure: Failure | undefined;
  /** Whether somebody else has changed the same objects meanwhile. */
  readonly theirs: readonly Json[] | undefined;
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

/**
 * Makes a change: at once, or after a review where something is dropped.
 * @returns the answer; null when it was given up in the review
 * @throws Failure of the service, where no review shows it
 */
export async function makeChange(change: Change): Promise<Json | null> {
  const read = isAboutSomething(change) ? await readConcerned(change) : { ...NOTHING_READ, version: overview.peek()?.version ?? 0 };
  const steps = change.steps(read.entries, read.parts);
  if (steps.length === 0) return null;
  if (change.review === true || steps.some(isDropped(steps))) {
    return new Promise((finish) => {
      pending.value = { change, read, steps, failure: undefined, theirs: undefined, finish };
    });
  }
  return apply(change, read, steps);
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
    const read = await readConcerned(current.change);
    const theirs = [...read.entries, ...read.parts];
    pending.value = { ...current, failure, theirs, read, steps: current.change.steps(read.entries, read.parts) };
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
    if (isAboutSomething(change) && !isSame(await readConcerned(change), after))
      throw new Failure('The objects have been changed since; undo would lose that.', { code: 'changed-since' });
    if (inverse !== undefined) return typeof inverse === 'function' ? inverse(before.parts, answer) : inverse;
    return (tables ?? []).flatMap((address, index) => tableSteps(address, after.entries[index] ?? null, before.entries[index] ?? null));
  };
}

/** Takes a change back, while its objects are as it left them. @throws Failure */
export async function undo(applied: AppliedChange): Promise<void> {
  const steps = await applied.undo?.();
  if (steps === undefined || steps.length === 0) return;
  await perform(steps);
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
