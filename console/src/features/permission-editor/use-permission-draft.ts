import { useEffect, useState } from 'preact/hooks';
import { type Change, makeChange } from '../../api/changes.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import type { TableInfo } from '../../api/table-info.ts';
import { useDraft } from '../../browser/drafts.ts';
import { equalJson, isObject, type Json, type JsonObject, parseJsonText } from '../../model/json.ts';
import { type TableOverview, tableId, tableJson } from '../../model/overview.ts';
import { memberOf, type PermissionOperation, tableSteps, withMember } from '../../model/table-entry.ts';

/** A permission while it is edited, with the stored one that it began with. */
interface Draft {
  /** `null` if the permission is to be deleted. */
  readonly permission: JsonObject | null;
  readonly before: JsonObject | null;
  readonly version: number;
}

/** A draft as it is kept while other pages are open. */
interface KeptDraft {
  readonly edited?: Draft | undefined;
  /** The JSON as typed; undefined while the editor shows the draft. */
  readonly text?: string | undefined;
}

/** Returns the beginning of the keys of the drafts of a table; operation and role follow. */
export function draftPrefix(table: TableOverview): string {
  return `permission ${table.source} ${tableId(table)} `;
}

/** Reads JSON as typed. */
function readPermission(text: string): { readonly json?: JsonObject; readonly error?: string } {
  try {
    const json = parseJsonText(text);
    return isObject(json) ? { json } : { error: 'expected a JSON object' };
  } catch (error) {
    return { error: failureOf(error).message };
  }
}

export interface PermissionAddress {
  readonly table: TableOverview;
  readonly info: TableInfo;
  readonly role: string;
  readonly operation: PermissionOperation;
}

interface Options extends PermissionAddress {
  /** `null` if the role has none. */
  readonly saved: JsonObject | null;
  /** Called when the stored permission has been read again after a change of the form. */
  onApplied(): void;
}

/** Replaces one permission by `permission`; `null` drops it. The comment stays. */
function permissionChange({ table, role, operation }: PermissionAddress, permission: JsonObject | null): Change {
  const key = `${operation}_permissions`;
  const address = { source: table.source, kind: table.kind, table: tableJson(table) };
  return {
    title: `${operation} permission of ${role} on ${tableId(table)}`,
    tables: [address],
    review: true,
    steps: ([entry]) => {
      if (entry === null || entry === undefined) throw new Error('This table is no longer tracked.');
      const comment = memberOf(entry, key, 'role', role)?.['comment'];
      const member = permission === null ? null : { role, permission, ...(comment === undefined ? {} : { comment }) };
      return tableSteps(address, entry, withMember(entry, key, 'role', role, member));
    },
  };
}

/**
 * Draft of one permission, as an object and as the text of the JSON editor. It survives changes of the metadata, and replaces only the
 * permission that it began with.
 */
export function usePermissionDraft(options: Options) {
  const { info, role, operation, saved, onApplied } = options;
  const [kept, keep] = useDraft<KeptDraft>(`${draftPrefix(options.table)}${operation} ${role}`);
  const { edited, text } = kept ?? {};
  const [form, setForm] = useState<'tree' | 'json'>(text === undefined ? 'tree' : 'json');
  const textError = text === undefined ? undefined : readPermission(text).error;
  const [failure, setFailure] = useState<Failure>();
  /** Set from a successful change until the stored permission has been read again: the draft stays on screen. */
  const [isApplied, setApplied] = useState(false);
  useEffect(() => {
    if (!isApplied) return;
    reset();
    onApplied();
  }, [info.version]);
  const draft = edited === undefined ? saved : edited.permission;
  const before = edited === undefined ? saved : edited.before;
  const version = edited?.version ?? info.version;
  const isChanged = !equalJson(draft, saved);
  const draftOf = (permission: JsonObject | null): Draft | undefined => {
    const isStored = equalJson(permission, before) && equalJson(before, saved);
    return isStored ? undefined : { permission, before, version };
  };
  const put = (next: KeptDraft): void => {
    setFailure(undefined);
    keep(next.edited === undefined && next.text === undefined ? undefined : next);
  };
  const setDraft = (permission: JsonObject | null): void => put({ edited: draftOf(permission), text });
  const reset = (): void => {
    setFailure(undefined);
    keep(undefined);
    setApplied(false);
  };
  return {
    draft,
    setDraft,
    set(changes: Readonly<Record<string, Json | undefined>>): void {
      const next = Object.entries({ ...draft, ...changes }).filter((entry): entry is [string, Json] => entry[1] !== undefined);
      setDraft(Object.fromEntries(next));
    },
    reset,
    form,
    show(next: 'tree' | 'json'): void {
      if (next === 'tree' && textError !== undefined) return;
      put({ edited });
      setForm(next);
    },
    text,
    editText(next: string): void {
      const { json } = readPermission(next);
      put({ edited: json === undefined ? edited : draftOf(json), text: next });
    },
    textError,
    failure,
    isChanged,
    /** Version that the draft began with, if the stored permission has been changed since. */
    outdatedSince: edited !== undefined && isChanged && !isApplied && !equalJson(before, saved) ? version : undefined,
    refusal: isReadOnly ? READ_ONLY_REASON : textError !== undefined ? 'Invalid JSON' : isChanged ? undefined : 'No changes',
    async apply(permission: JsonObject | null): Promise<void> {
      setFailure(undefined);
      const storedIn = (entry: JsonObject | null | undefined): Json =>
        memberOf(entry ?? null, `${operation}_permissions`, 'role', role)?.['permission'] ?? null;
      try {
        const done = await makeChange({
          ...permissionChange(options, permission),
          draft: { before, now: ([entry]) => storedIn(entry), after: () => permission, version, discard: reset },
        });
        if (done !== null) setApplied(true);
      } catch (error) {
        setFailure(failureOf(error));
      }
    },
  };
}

export type PermissionDraftState = ReturnType<typeof usePermissionDraft>;
