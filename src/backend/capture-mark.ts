/** Marks on functions and triggers that capture changes: whose they are, and from which version of the metadata. */
import { createHash } from 'node:crypto';
import type { CapturedOperationName, EventTrigger } from '../metadata/event-trigger.ts';
import { printJson } from '../util/json.ts';

export interface CaptureMark {
  readonly owner: string;
  /** Name of the event trigger. */
  readonly trigger: string;
  /** Time of installation, in epoch milliseconds. */
  readonly made: number;
  /** Resource version of the metadata that it was installed for; absent in marks of earlier releases. */
  readonly version?: number;
  /** Ids of the drafts of the metadata that it was installed for; absent in marks of earlier releases. */
  readonly drafts?: readonly string[];
  /** Hash of the definition that it was made from, without the columns of the table; absent in marks of earlier releases. */
  readonly definition?: string;
}

/** Mark of what no service has installed. */
export const NO_MARK: CaptureMark = { owner: '', trigger: '', made: 0 };

/** Reads the JSON of a mark; `NO_MARK` if it is none. */
export function readMark(text: string | null | undefined): CaptureMark {
  try {
    const { owner, trigger, made, version, drafts, definition } = JSON.parse(text ?? '{}') as Partial<CaptureMark>;
    if (typeof owner !== 'string' || typeof trigger !== 'string' || typeof made !== 'number') return NO_MARK;
    return {
      ...{ owner, trigger, made },
      ...(typeof version === 'number' ? { version } : {}),
      ...(Array.isArray(drafts) && drafts.every((each) => typeof each === 'string') ? { drafts } : {}),
      ...(typeof definition === 'string' ? { definition } : {}),
    };
  } catch {
    return NO_MARK;
  }
}

/** Hash of the part of a definition that decides how an operation is captured. */
export function definitionHash(definition: EventTrigger, operation: CapturedOperationName): string {
  const { columns = '*', payload = '*' } = definition[operation] ?? {};
  const parts = printJson([columns, payload, definition.ordering ?? null, definition.triggerOnReplication ?? null]);
  return createHash('sha256').update(parts).digest('base64url').slice(0, 16);
}

/** A change of the metadata does not take longer: what it has installed by then belongs to no change under way. */
const SETTLED_MS = 600_000;

/** State of the metadata that decides which captures belong to no change under way. */
export interface Settled {
  /** Resource version that is stored: what was installed for a later one may belong to a change under way. */
  readonly settled: number;
  /** Ids of drafts that have ended: what was installed for them alone belongs to no change under way. */
  readonly ended?: ReadonlySet<string> | undefined;
}

/** Whether a capture belongs to no change under way. Drafts of two instances may have the same version. */
export function isSettled({ version, drafts = [], made }: CaptureMark, { settled, ended }: Settled): boolean {
  if ((version !== undefined && version <= settled) || made < Date.now() - SETTLED_MS) return true;
  return drafts.length > 0 && drafts.every((each) => ended?.has(each) === true);
}

/** Version and draft that a capture is installed for. */
export interface MarkedFor {
  readonly version: number;
  /** Id of the draft; absent for metadata that is stored. */
  readonly draft?: string | undefined;
}

/** Whether a change installs for the version of this mark or an earlier one, and a draft of another instance has installed this. */
export function isOfOtherDraft({ version = 0, drafts = [] }: CaptureMark, own: MarkedFor): boolean {
  return version >= own.version && drafts.length > 0 && !drafts.some((each) => each === own.draft);
}

/** Maximum number of ids in a mark. The end of a draft that is not in the list removes nothing. */
const MAX_DRAFTS = 100;

/** Whether the end of other drafts leaves a capture with this mark to this one. */
export function isMarkedFor({ version = 0, drafts = [] }: CaptureMark, own: MarkedFor): boolean {
  return version >= own.version && (own.draft === undefined || drafts.includes(own.draft) || drafts.length >= MAX_DRAFTS);
}

/**
 * Returns what a new mark says of version and drafts.
 * @param shared mark of the same capture, which another draft may have installed too
 */
export function markFor({ version, draft }: MarkedFor, shared?: CaptureMark): Pick<CaptureMark, 'version' | 'drafts'> {
  const own = draft === undefined ? [] : [draft];
  if (shared === undefined || isSettled(shared, { settled: version - 1 })) return { version, drafts: own };
  const { version: known = version, drafts = [] } = shared;
  // A mark of an earlier release may be of a draft without an id: no end of another draft removes its capture.
  const isClosed = drafts.length === 0 || drafts.length >= MAX_DRAFTS;
  return { version: Math.max(version, known), drafts: isClosed ? drafts : [...new Set([...drafts, ...own])] };
}
