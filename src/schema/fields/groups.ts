/** `groups` of `T_aggregate`: groups of rows with the same key, with their aggregates. */
import type { AggregateItem, GroupField, GroupNodes, GroupsField, GroupTerm, OrderBy } from '../../ir/select.ts';
import type { CollectedField, InputField, InputObjectType, InputValue, ObjectType, OutputField } from '../../graphql-engine/types.ts';
import { lazy, listTypeRef, typeRef } from '../../graphql-engine/types.ts';
import { lazyMap, orderTerms, smallerLimit } from './arguments.ts';
import { builtin, NON_NEGATIVE_INT, OFFSET_INT } from '../../graphql-engine/input/built-in-scalars.ts';
import { quoted } from './descriptions.ts';
import { hasGroupKey } from './group-key.ts';
import { GroupParts } from './group-parts.ts';
import { type HavingType, havingType } from './having.ts';
import { nonNullArgument, invalid } from './input.ts';
import { type RoleTable, roleTypeName } from './role-table.ts';
import { keyOf } from '../relay/node.ts';
import { typenameField } from './typename.ts';

const NO_ARGS: ReadonlyMap<string, InputField> = new Map();

/** Parts of `T_aggregate` that groups have, too. */
export interface AggregatesOfTable {
  /** `aggregate` of a group. */
  field(nonNull: boolean): OutputField;
  items(field: CollectedField): readonly AggregateItem[];
}

/** Returns the field; null if the kind has no groups, or the role sees nothing to group by. */
export function groupsField(table: RoleTable, aggregates: AggregatesOfTable): OutputField | null {
  const { source } = table;
  if (source.info.backend.capabilities.groups !== true || source.options.hideAggregateGroups || !hasGroupKey(table)) return null;
  const type = lazy(() => groupType(table, aggregates));
  const order = lazy(() => groupOrderBy(table));
  const having = lazy(() => havingType(table));
  const name = (key: string): string => source.field(key);
  return {
    name: name('groups'),
    description: 'groups of the rows: rows are in one group if everything that is selected in "key" is equal',
    type: listTypeRef(typeRef(roleTypeName(table, 'aggregate_group'), type, true), true),
    args: lazyMap(() => {
      const args: readonly InputField[] = [
        {
          name: name('having'),
          description: 'filter the groups by their aggregates',
          type: typeRef(roleTypeName(table, 'aggregate_having'), () => having().type),
        },
        {
          name: name('order_by'),
          description: 'sort the groups by one or more values; parts of the key follow',
          type: listTypeRef(typeRef(roleTypeName(table, 'aggregate_group_order_by'), () => order().type, true)),
        },
        { name: name('limit'), description: 'limit the number of groups returned', type: builtin(NON_NEGATIVE_INT) },
        { name: name('offset'), description: 'skip the first n groups', type: builtin(OFFSET_INT) },
      ];
      return new Map(args.map((argument) => [argument.name, argument]));
    }),
    meaning: {
      kind: 'aggregate-part',
      toPart: (field) => groupsOf(table, { type: type(), order: order(), having: having(), aggregates }, field),
    },
  };
}

/** Each list numbers the rows of all groups, and joins them. */
const MAX_NODES = 16;

interface GroupTypes {
  readonly type: ObjectType;
  readonly order: GroupOrderBy;
  readonly having: HavingType;
  readonly aggregates: AggregatesOfTable;
}

function groupsOf(table: RoleTable, { type, order, having, aggregates }: GroupTypes, field: CollectedField): GroupsField {
  const { source } = table;
  const parts = new GroupParts();
  const keyName = source.field('key');
  const nodesName = source.field('nodes');
  const selected = field.select(type);
  if (selected.filter(({ name }) => name === nodesName).length > MAX_NODES)
    throw invalid(`groups have at most ${MAX_NODES} lists of nodes`, field.path);
  const fields = selected.map((each): GroupField => {
    if (each.field === null) return typenameField(each);
    if (each.name === keyName) return { kind: 'key', alias: each.responseKey, fields: table.groupKey().fields(each, parts) };
    if (each.name === nodesName) return nodesOf(table, each);
    return { kind: 'aggregate', alias: each.responseKey, fields: aggregates.items(each) };
  });
  const condition = nonNullArgument(field.args, source.field('having'));
  const orderBy = nonNullArgument(field.args, source.field('order_by'));
  const limit = nonNullArgument(field.args, source.field('limit'));
  const offset = nonNullArgument(field.args, source.field('offset'));
  const requested = orderBy === null ? [] : orderBy.items().flatMap((item) => (item.isNull() ? [] : order.terms(item, parts)));
  return {
    kind: 'groups',
    alias: field.responseKey,
    related: parts.related,
    parts: parts.parts,
    having: condition === null ? null : having.condition(condition),
    orderBy: totalOrder(requested, parts.parts.length),
    limit: smallerLimit(limit === null ? null : Number(limit.json()), table.access.limit),
    offset: offset === null ? null : offset.value(),
    fields,
  };
}

/** Appends the parts that the order does not have. */
function totalOrder(requested: readonly OrderBy<GroupTerm>[], parts: number): readonly OrderBy<GroupTerm>[] {
  const present = new Set(requested.map(({ term }) => (term.kind === 'part' ? term.part : null)));
  const others = Array.from({ length: parts }, (_, part) => part).filter((part) => !present.has(part));
  return [...requested, ...others.map((part): OrderBy<GroupTerm> => ({ term: { kind: 'part', part }, direction: 'asc', nulls: 'last' }))];
}

function groupType(table: RoleTable, aggregates: AggregatesOfTable): ObjectType {
  const { source } = table;
  return {
    kind: 'object',
    name: roleTypeName(table, 'aggregate_group'),
    description: `group of rows of ${quoted(source.info, table.info.name)}`,
    fields: lazy(() => {
      const key: OutputField = {
        name: source.field('key'),
        description: 'values that all rows of the group have; the selection decides by what the rows are grouped',
        type: typeRef(roleTypeName(table, 'aggregate_group_key'), () => table.groupKey().type, true),
        args: NO_ARGS,
        meaning: { kind: 'inner' },
      };
      const nodes: OutputField = {
        name: source.field('nodes'),
        description: 'rows of the group',
        type: listTypeRef(
          typeRef(table.name, () => table.rows().type, true),
          true,
        ),
        args: lazyMap(() => nodesArguments(table)),
        meaning: { kind: 'inner' },
      };
      return new Map([key, aggregates.field(true), nodes].map((field) => [field.name, field]));
    }),
  };
}

/** Arguments of the list of rows that choose a page of them. */
function nodesArguments(table: RoleTable): ReadonlyMap<string, InputField> {
  const page = ['limit', 'offset', 'order_by'].map((name) => table.source.field(name));
  return new Map([...table.selectArguments().args].filter(([name]) => page.includes(name)));
}

function nodesOf(table: RoleTable, field: CollectedField): GroupNodes {
  const { source, info, access } = table;
  const limit = nonNullArgument(field.args, source.field('limit'));
  const offset = nonNullArgument(field.args, source.field('offset'));
  const orderBy = nonNullArgument(field.args, source.field('order_by'));
  return {
    kind: 'nodes',
    alias: field.responseKey,
    orderBy: orderBy === null ? null : orderTerms(table, orderBy),
    ties: keyOf(source, info).map(({ read }) => read),
    limit: smallerLimit(limit === null ? null : Number(limit.json()), access.limit),
    offset: offset === null ? null : offset.value(),
    fields: table.rows().fields(field),
  };
}

interface GroupOrderBy {
  readonly type: InputObjectType;
  /** @throws SvcError for a part that is not selected */
  terms(input: InputValue, parts: GroupParts): readonly OrderBy<GroupTerm>[];
}

function groupOrderBy(table: RoleTable): GroupOrderBy {
  const { source } = table;
  const keyName = source.field('key');
  const aggregateName = source.field('aggregate');
  const type: InputObjectType = {
    kind: 'input-object',
    name: roleTypeName(table, 'aggregate_group_order_by'),
    description: `order of groups of ${quoted(source.info, table.info.name)}`,
    fields: lazy(() => {
      const key = typeRef(roleTypeName(table, 'aggregate_group_key_order_by'), () => table.groupKey().order);
      const aggregate = typeRef(roleTypeName(table, 'aggregate_order_by'), () => table.aggregateOrderBy().type);
      return new Map<string, InputField>([
        [keyName, { name: keyName, description: null, type: key }],
        [aggregateName, { name: aggregateName, description: null, type: aggregate }],
      ]);
    }),
  };
  return {
    type,
    terms: (input, parts) =>
      input.entries().flatMap((entry): readonly OrderBy<GroupTerm>[] => {
        if (entry.input.isNull()) return [];
        if (entry.field.name === keyName) return table.groupKey().terms(entry.input, parts);
        return table
          .aggregateOrderBy()
          .terms(entry.input, (name, reads): GroupTerm => ({ kind: 'aggregate', function: name, arguments: reads }));
      }),
  };
}
