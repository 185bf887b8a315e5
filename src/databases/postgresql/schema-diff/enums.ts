import type { EnumType, SchemaSnapshot } from './snapshot.ts';
import { key, type DiffStatement, tableKeys } from './statement.ts';
import { mapByName } from './table-pair.ts';

/** Statements for enum types. */
export function enumStatements(from: SchemaSnapshot, to: SchemaSnapshot): readonly DiffStatement[] {
  const [before, after] = [mapByName(from.enums), mapByName(to.enums)];
  return [
    ...to.enums.flatMap((type) => {
      const old = before.get(type.name);
      return old === undefined ? [created(type, from)] : [...added(old, type), ...removed(old, type)];
    }),
    ...from.enums.flatMap((type) => (after.has(type.name) ? [] : [dropped(type, from)])),
  ];
}

/** Names of the enums that get values. */
export function growingEnums(from: SchemaSnapshot, to: SchemaSnapshot): ReadonlySet<string> {
  const before = mapByName(from.enums);
  return new Set(to.enums.filter((type) => added(before.get(type.name) ?? type, type).length > 0).map(({ name }) => name));
}

/** Refusal to create an object whose name belongs to an object that is not compared. */
export function takenBy(name: string, from: SchemaSnapshot): string | undefined {
  const other = from.others.find((each) => each.name === name);
  return other === undefined ? undefined : `there is already the ${other.what}, which is not compared`;
}

function created({ name, labels }: EnumType, from: SchemaSnapshot): DiffStatement {
  const self = key('type', name);
  const sql = `create type ${name} as enum (${labels.join(', ')})`;
  return { phase: 'create types', sql, touches: [self], refused: takenBy(name, from), blocks: [self] };
}

/** Each new value is placed after its predecessor in the new list, which exists by then. */
function added(before: EnumType, after: EnumType): readonly DiffStatement[] {
  const old = new Set(before.labels);
  return after.labels.flatMap((label, i) => {
    if (old.has(label)) return [];
    const place = i > 0 ? ` after ${after.labels[i - 1]}` : old.size > 0 ? ` before ${before.labels[0]}` : '';
    const sql = `alter type ${after.name} add value if not exists ${label}${place}`;
    return [{ phase: 'add values', sql, touches: [key('type', after.name)] } as const];
  });
}

function removed(before: EnumType, after: EnumType): readonly DiffStatement[] {
  const gone = before.labels.filter((label) => !after.labels.includes(label));
  const kept = before.labels.filter((label) => after.labels.includes(label));
  const isReordered = kept.join() !== after.labels.filter((label) => before.labels.includes(label)).join();
  const why = [
    ...(gone.length > 0 ? [`PostgreSQL cannot remove ${gone.join(', ')} from the enum ${after.name}`] : []),
    ...(isReordered ? [`PostgreSQL cannot change the order of the values of the enum ${after.name}`] : []),
  ];
  return why.map((refused) => ({ phase: 'add values', sql: '', touches: [], refused }));
}

function dropped({ name, usedBy }: EnumType, from: SchemaSnapshot): DiffStatement {
  const users = from.tables.flatMap((table) =>
    table.columns.flatMap((column) => (column.enum === name ? tableKeys(table.name, [column.name]) : [])),
  );
  const self = key('type', name);
  return {
    phase: 'drop types',
    sql: `drop type ${name}`,
    touches: [self, ...users],
    refused: usedBy.length === 0 ? undefined : `${usedBy.join(', ')} would have to be dropped with it`,
    blocks: [self],
  };
}
