/** `T_aggregate_group_key`: the values by which rows are grouped, which are those that a request selects, and the order by them. */
import type { GroupTerm, KeyField, OrderBy } from '../../ir/select.ts';
import type { SvcError } from '../../errors/svc-error.ts';
import type { Path } from '../../util/path.ts';
import type {
  CollectedField,
  EnumSchemaType,
  InputField,
  InputObjectType,
  InputValue,
  ObjectType,
  OutputField,
} from '../../graphql-engine/types.ts';
import { lazy, typeRef } from '../../graphql-engine/types.ts';
import { lazyMap } from './arguments.ts';
import { builtin, INT_SCALAR } from '../../graphql-engine/input/built-in-scalars.ts';
import { commentOr, quoted } from './descriptions.ts';
import { invalid } from './input.ts';
import type { GroupParts } from './group-parts.ts';
import { ordered } from './order-by.ts';
import { type GroupKeyType, type KeyPlace, type RoleRelationship, type RoleTable, roleTypeName } from './role-table.ts';
import type { Read } from '../../ir/bool-exp.ts';
import { partArguments, timeArguments, timeBucket, timeColumnEnum, timePart, timeValues } from './time-key.ts';
import { typenameField } from './typename.ts';
import type { ValuePlace } from './value-place.ts';

const NO_ARGS: ReadonlyMap<string, InputField> = new Map();

/** One key of `T_aggregate_group_key`. */
interface KeyEntry {
  readonly field: OutputField;
  toKey(field: CollectedField, parts: GroupParts, at: KeyPlace): KeyField;
  readonly order: { readonly field: InputField; terms(input: InputValue, parts: GroupParts, at: KeyPlace): readonly OrderBy<GroupTerm>[] };
}

const GROUPED_ROW: KeyPlace = { row: null, names: [] };

/** Returns true if the role can group rows of the table. */
export function hasGroupKey(table: RoleTable): boolean {
  return (
    [...table.columns.values()].some(({ place }) => isKey(table, place)) ||
    table.computedFields.some((computed) => computed.kind === 'scalar' && computed.arguments.plain !== null && isKey(table, computed.place))
  );
}

function isKey(table: RoleTable, { type, sortable }: ValuePlace): boolean {
  return sortable && table.source.shared.types.grouping?.isKey(type) === true;
}

export function groupKeyType(table: RoleTable): GroupKeyType {
  const entries = lazy(() => keyEntries(table));
  const type: ObjectType = {
    kind: 'object',
    name: roleTypeName(table, 'aggregate_group_key'),
    description: `values by which rows of ${quoted(table.source.info, table.info.name)} are grouped: those that are selected`,
    fields: lazy(() => new Map([...entries()].map(([name, { field }]) => [name, field]))),
  };
  const order: InputObjectType = {
    kind: 'input-object',
    name: roleTypeName(table, 'aggregate_group_key_order_by'),
    description: `order of groups of ${quoted(table.source.info, table.info.name)} by parts of their key`,
    fields: lazy(() => new Map([...entries()].map(([name, entry]) => [name, entry.order.field]))),
  };
  const fields = (parent: CollectedField, parts: GroupParts, at: KeyPlace): readonly KeyField[] =>
    parent.select(type).map((field) => entries().get(field.name)?.toKey(field, parts, at) ?? typenameField(field));
  const terms = (input: InputValue, parts: GroupParts, at: KeyPlace): readonly OrderBy<GroupTerm>[] =>
    input
      .entries()
      .flatMap((entry) => (entry.input.isNull() ? [] : (entries().get(entry.field.name)?.order.terms(entry.input, parts, at) ?? [])));
  return {
    type,
    order,
    fields: (parent, parts, at = GROUPED_ROW) => fields(parent, parts, at),
    terms: (input, parts, at = GROUPED_ROW) => terms(input, parts, at),
  };
}

function keyEntries(table: RoleTable): ReadonlyMap<string, KeyEntry> {
  const entries = new Map<string, KeyEntry>();
  const add = (entry: KeyEntry): void => {
    if (!entries.has(entry.field.name)) entries.set(entry.field.name, entry);
  };
  for (const { name, info, place, nullable, read } of table.columns.values()) {
    if (isKey(table, place))
      add(valueEntry(table, { name, description: commentOr(info.comment, info.catalog.comment), place, nullable, read }));
  }
  for (const relationship of table.relationships) {
    const { info, target } = relationship;
    if (info.kind === 'object' && hasGroupKey(target)) add(rowEntry(relationship));
  }
  for (const computed of table.computedFields) {
    const call = computed.arguments.plain;
    if (computed.kind !== 'scalar' || call === null || !isKey(table, computed.place)) continue;
    const { name, description, place } = computed;
    add(valueEntry(table, { name, description, place, nullable: true, read: computed.read(call) }));
  }
  const columns = timeColumnEnum(table);
  if (columns !== null) add(partEntry(table, columns));
  return entries;
}

interface KeyValue {
  readonly name: string;
  readonly description: string | null;
  readonly place: ValuePlace;
  readonly nullable: boolean;
  readonly read: Read;
}

function valueEntry(table: RoleTable, { name, description, place, nullable, read }: KeyValue): KeyEntry {
  const time = timeValues(table, place);
  const { type, upperCase } = place;
  return {
    field: {
      name,
      description,
      type: place.output(!nullable),
      args: time === null ? NO_ARGS : lazyMap(() => timeArguments(table, time)),
      meaning: { kind: 'inner' },
    },
    toKey(field, parts, { row, names }) {
      const bucket = time === null ? null : timeBucket(table, field, time);
      const made = { kind: 'read' as const, row, read, type, ...(bucket === null ? {} : { bucket }) };
      return { kind: 'part', alias: field.responseKey, part: parts.add(made, [...names, name].join('.'), field.path), type, upperCase };
    },
    order: valueOrder(table, name),
  };
}

/** `_part` */
function partEntry(table: RoleTable, columns: EnumSchemaType): KeyEntry {
  const { source } = table;
  const name = source.field('_part');
  const type = source.shared.types.basic.integer;
  return {
    field: {
      name,
      description: 'part of a date or time, such as the day of the week',
      type: builtin(INT_SCALAR),
      args: lazyMap(() => partArguments(table, columns)),
      meaning: { kind: 'inner' },
    },
    toKey(field, parts, { row, names }) {
      const { column, bucket } = timePart(table, field);
      const part = parts.add({ kind: 'read', row, read: column.read, bucket, type }, [...names, name].join('.'), field.path);
      return { kind: 'part', alias: field.responseKey, part, type, upperCase: false };
    },
    order: valueOrder(table, name),
  };
}

function valueOrder(table: RoleTable, name: string): KeyEntry['order'] {
  const direction = table.source.shared.orderBy();
  return {
    field: { name, description: null, type: typeRef(direction.name, () => direction) },
    terms(input, parts, { names }) {
      const found = parts.named([...names, name].join('.'));
      if (found.length === 0) throw notInKey(name, input.path);
      return found.map((part) => ordered(input, { kind: 'part', part }));
    },
  };
}

function rowEntry({ info, name, target }: RoleRelationship): KeyEntry {
  return {
    field: {
      name,
      description: commentOr(info.comment, 'An object relationship; null if there is no such row'),
      type: typeRef(roleTypeName(target, 'aggregate_group_key'), () => target.groupKey().type),
      args: NO_ARGS,
      meaning: { kind: 'inner' },
    },
    toKey(field, parts, at) {
      const names = [...at.names, name];
      const place = names.join('.');
      const row = parts.row({ parent: at.row, join: info.join, from: target.relation, where: target.access.filter }, place, field.path);
      const part = parts.add({ kind: 'exists', row }, place, field.path);
      return { kind: 'row', alias: field.responseKey, part, fields: target.groupKey().fields(field, parts, { row, names }) };
    },
    order: {
      field: {
        name,
        description: null,
        type: typeRef(roleTypeName(target, 'aggregate_group_key_order_by'), () => target.groupKey().order),
      },
      terms: (input, parts, at) => target.groupKey().terms(input, parts, { row: null, names: [...at.names, name] }),
    },
  };
}

function notInKey(name: string, path: Path): SvcError {
  return invalid(`"${name}" is not part of the key`, path);
}
