/** What a role may write to a table through the legacy API, and what it gets back. */
import { ADMIN_ROLE } from '../../auth/session.ts';
import type { CatalogColumn } from '../../catalog/catalog.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { type BoolExp, TRUE } from '../../ir/bool-exp.ts';
import type { MutationField, MutationOutput } from '../../ir/mutation.ts';
import type { ValidateInput } from '../../metadata/validate-input.ts';
import type { Preset } from '../../schema-cache/schema-cache.ts';
import { at, type Path } from '../../util/path.ts';
import { takesValues } from '../../schema/build/write-access.ts';
import type { DataContext } from './data-operation.ts';
import { hiddenColumn, noSuchColumn, notAllowed, printTable, readableColumn, readableTable } from './table-access.ts';

export interface WriteAccess {
  /** null: every column. */
  readonly columns: ReadonlySet<string> | null;
  readonly presets: ReadonlyMap<string, Preset>;
  /** Rows that can be written to; always true for inserts. */
  readonly filter: BoolExp;
  /** null: rows may become anything. */
  readonly check: BoolExp | null;
  /** The hook that has to agree. */
  readonly validateInput: ValidateInput | null;
}

type Action = 'insert' | 'update' | 'delete';

interface Granted {
  readonly columns?: ReadonlySet<string>;
  readonly presets?: ReadonlyMap<string, Preset>;
  readonly filter?: BoolExp;
  readonly check?: BoolExp | null;
  readonly backendOnly: boolean;
  readonly validateInput: ValidateInput | null;
}

const ABLE = { insert: 'insertable', update: 'updatable', delete: 'deletable' } as const;

/** @throws SvcError permission-denied */
export function writeAccess(context: DataContext, action: Action): WriteAccess {
  const access = writeAccessIfAny(context, action);
  if (access === null) throw notAllowed(context.reader, context.info, action, context.path);
  return access;
}

/** Null when the role has no such permission. @throws SvcError when nobody can write to the table */
export function writeAccessIfAny({ reader, info, backendOnly, path }: DataContext, action: Action): WriteAccess | null {
  if (!info.catalog[ABLE[action]]) {
    throw new SvcError('not-supported', `"${printTable(reader, info.name)}" is not ${ABLE[action]}`, { path });
  }
  if (reader.role === ADMIN_ROLE) return { columns: null, presets: new Map(), filter: TRUE, check: null, validateInput: null };
  const granted: Granted | undefined = info.permissions.get(reader.role)?.[action];
  if (granted === undefined || (granted.backendOnly && !backendOnly)) return null;
  const { columns = null, presets = new Map<string, Preset>(), filter = TRUE, check = null, validateInput } = granted;
  return { columns, presets, filter, check, validateInput };
}

/** A column that a value is given for. @throws SvcError when the role cannot give one */
export function writtenColumn(context: DataContext, access: WriteAccess, action: Action, name: string, path: Path): CatalogColumn {
  const { reader, info } = context;
  const column = info.catalog.columns.find((each) => each.name === name);
  if (column === undefined) throw noSuchColumn(name, path);
  const able = action === 'insert' ? ABLE.insert : ABLE.update;
  if (access.presets.has(name)) {
    const message = `column "${name}" is not ${able} for role "${reader.role}"; its value is predefined in permission`;
    throw new SvcError('not-supported', message, { path });
  }
  if (access.columns?.has(name) === false) throw hiddenColumn(reader, action, name, path);
  if (!takesValues(column)) throw new SvcError('not-supported', `column "${name}" is not ${able}`, { path });
  return column;
}

/** The answer of a write: its rows need the select permission. @throws SvcError */
export function writeOutput(context: DataContext, returning: readonly string[] | undefined): MutationOutput {
  const fields: MutationField[] = [{ kind: 'affected-rows', alias: 'affected_rows' }];
  if (returning !== undefined) {
    const table = readableTable(context.reader, context.info, context.path);
    const path = at(context.path, 'returning');
    const columns = returning.flatMap((name, i) =>
      name === '*' ? [...table.columns] : [[name, readableColumn(table, name, at(path, i))] as const],
    );
    const returned = [...new Map(columns)].map(([alias, { read }]) => ({ kind: 'read', alias, read, jsonPath: null }) as const);
    fields.push({ kind: 'returning', alias: 'returning', fields: returned });
  }
  return { kind: 'response', fields };
}
