/** Labels on functions and triggers that capture changes: their owner, and the version of the metadata. */
import { createHash } from 'node:crypto';
import type { CatalogTable } from '../catalog/catalog.ts';
import type { CapturedOperationName, EventTrigger } from '../metadata/event-trigger.ts';
import { printJson } from '../util/json.ts';

export interface CaptureLabel {
  readonly owner: string;
  /** Name of the event trigger. */
  readonly trigger: string;
  /** Time of installation, in epoch milliseconds. */
  readonly made: number;
  /** Resource version of the metadata; absent in labels of earlier releases. */
  readonly version?: number;
  /** IDs of the drafts of the metadata; absent in labels of earlier releases. */
  readonly drafts?: readonly string[];
  /** Hash of the definition, without the columns of the table; absent in labels of earlier releases. */
  readonly definition?: string;
  /** Version of the form in which the service writes captures. Default 1. */
  readonly format?: number;
  /** Hash of everything else that the text of the capture depends on; see `captureInputs`. */
  readonly inputs?: string;
}

/** Label of objects that no service has installed. */
export const NO_LABEL: CaptureLabel = { owner: '', trigger: '', made: 0 };

/** Reads the JSON of a label; returns `NO_LABEL` for any other text. */
export function readCaptureLabel(text: string | null | undefined): CaptureLabel {
  try {
    const { owner, trigger, made, version, drafts, definition, format, inputs } = JSON.parse(text ?? '{}') as Partial<CaptureLabel>;
    if (typeof owner !== 'string' || typeof trigger !== 'string' || typeof made !== 'number') return NO_LABEL;
    return {
      ...{ owner, trigger, made },
      ...(typeof version === 'number' ? { version } : {}),
      ...(Array.isArray(drafts) && drafts.every((each) => typeof each === 'string') ? { drafts } : {}),
      ...(typeof definition === 'string' ? { definition } : {}),
      ...(typeof format === 'number' ? { format } : {}),
      ...(typeof inputs === 'string' ? { inputs } : {}),
    };
  } catch {
    return NO_LABEL;
  }
}

/** Hash of the part of a definition that determines the capture of an operation. */
export function definitionHash(definition: EventTrigger, operation: CapturedOperationName): string {
  const { columns = '*', payload = '*' } = definition[operation] ?? {};
  const parts = printJson([columns, payload, definition.ordering ?? null, definition.triggerOnReplication ?? null]);
  return shortHash(parts);
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}

/**
 * Hash of the inputs of a capture: its definition, the table and the options of the service. Services of two releases must agree on it, or
 * the older one replaces the text of the newer one: do not change what it hashes.
 */
export function captureInputs(
  definition: EventTrigger,
  operation: CapturedOperationName,
  { id, name, columns, primaryKey }: CatalogTable,
  stringifiesNumbers: boolean,
): string {
  const types = columns.map(({ name: column, type }) => [column, type.schema, type.name, type.array]);
  const table = [id, name.schema, name.name, types, primaryKey?.columns ?? []];
  return shortHash(printJson([definitionHash(definition, operation), table, stringifiesNumbers]));
}

/** Text of a capture, and the part of its label that describes the text. */
export interface CaptureText extends Required<Pick<CaptureLabel, 'format' | 'inputs'>> {
  readonly text: string;
}

/**
 * Returns the text that a capture is to have: the installed one if a newer service has written it in a later format, from the same inputs;
 * otherwise that of this service.
 */
export function captureText(installed: (CaptureLabel & Pick<CaptureText, 'text'>) | undefined, own: CaptureText): CaptureText {
  if (installed === undefined) return own;
  const { text, format = 1, inputs } = installed;
  return format > own.format && inputs === own.inputs ? { text, format, inputs } : own;
}

/** Maximum duration of a change of the metadata, after which its captures belong to no pending change. */
const SETTLED_MS = 600_000;

/** State of the metadata that determines which captures belong to no pending change. */
export interface Settled {
  /** Stored resource version: captures for a later one may belong to a pending change. */
  readonly settled: number;
  /** IDs of ended drafts: captures for them alone belong to no pending change. */
  readonly ended?: ReadonlySet<string> | undefined;
}

/** Returns whether a capture belongs to no pending change. Drafts of two instances may have the same version. */
export function isSettled({ version, drafts = [], made }: CaptureLabel, { settled, ended }: Settled): boolean {
  if ((version !== undefined && version <= settled) || made < Date.now() - SETTLED_MS) return true;
  return drafts.length > 0 && drafts.every((each) => ended?.has(each) === true);
}

/** Version and draft for which a capture is installed. */
export interface CaptureVersion {
  readonly version: number;
  /** ID of the draft; absent for stored metadata. */
  readonly draft?: string | undefined;
}

/** Returns whether a draft of another instance has installed a capture for the version of a change or a later one. */
export function belongsToOtherDraft({ version = 0, drafts = [] }: CaptureLabel, own: CaptureVersion): boolean {
  return version >= own.version && drafts.length > 0 && !drafts.some((each) => each === own.draft);
}

/** Maximum number of IDs in a label. The end of a draft that is not in the list removes nothing. */
const MAX_DRAFTS = 100;

/** Returns whether a capture with this label outlives the end of other drafts. */
export function isLabeledFor({ version = 0, drafts = [] }: CaptureLabel, own: CaptureVersion): boolean {
  return version >= own.version && (own.draft === undefined || drafts.includes(own.draft) || drafts.length >= MAX_DRAFTS);
}

/**
 * Returns the version and the drafts of a new label.
 * @param shared label of the same capture, which another draft may also have installed
 */
export function labelFor({ version, draft }: CaptureVersion, shared?: CaptureLabel): Pick<CaptureLabel, 'version' | 'drafts'> {
  const own = draft === undefined ? [] : [draft];
  if (shared === undefined || isSettled(shared, { settled: version - 1 })) return { version, drafts: own };
  const { version: known = version, drafts = [] } = shared;
  // A label of an earlier release may be of a draft without an ID: the end of another draft must not remove its capture.
  const isClosed = drafts.length === 0 || drafts.length >= MAX_DRAFTS;
  return { version: Math.max(version, known), drafts: isClosed ? drafts : [...new Set([...drafts, ...own])] };
}
