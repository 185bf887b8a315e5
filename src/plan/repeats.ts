/**
 * Merges values that an operation reads under several names: the database reads them once, and their layout has the names under which they
 * are printed. Rows that are selected several times with the same arguments and fields are read once too. With different fields they are
 * read separately: the time to print a name grows with all that was read for it, so only what it prints is read.
 */
import type { AggregateField, AggregateItem, AggregateQuery, Field, GroupsField, SelectQuery, SelectRoot } from '../ir/select.ts';
import type { MutationField, MutationOutput, MutationRoot } from '../ir/mutation.ts';
import { type JsonLayout, layoutKey } from '../util/json-layout.ts';
import { IrKeys } from './ir-key.ts';

/** `null` if the value is printed unchanged. */
type Layout = JsonLayout | null;

interface Named {
  readonly alias: string;
}

interface Joined<T> {
  readonly item: T;
  /** Layout of the value under each of its names. */
  readonly layouts: readonly Layout[];
}

/** Comparison of items of one kind. */
interface Kind<T extends Named> {
  /** Cheap key: equal for all equal items, and for some others. */
  rough(item: T): string;
  /** Number of equal items; `null` if the item equals no other. */
  exact(item: T, keys: IrKeys): number | null;
  join(same: readonly T[], keys: IrKeys): Joined<T>;
}

interface Place {
  readonly alias: string;
  readonly slot: number;
  readonly inner: Layout;
}

interface Merged<T> {
  readonly items: readonly T[];
  /** Places of the items of each list. */
  readonly places: readonly (readonly Place[])[];
}

/** Number of reads of the same rows or values, with different arguments, that are free: only further ones count. */
const FREE_READS = 16;
/** Maximum of the bytes that a read is expected to return. */
const MAX_EXPECTED = 524_288;
/** Bytes that a row, or an aggregate without rows, is expected to have. */
const ROW = 512;

/**
 * Estimates the bytes of an answer that reads the same rows under many names with different arguments.
 * @param parents rows for which the roots are read; Infinity if unknown
 */
export function expectedBytes(roots: readonly (Pick<SelectRoot, 'query'> | MutationRoot)[], parents = 1): number {
  /** Number and expected bytes of the reads of each name. */
  const lists = new Map<string, { times: number; bytes: number }>();
  const count = (name: string, bytes: number): void => {
    const list = lists.get(name);
    if (list === undefined) lists.set(name, { times: 1, bytes });
    else {
      list.times += 1;
      list.bytes += bytes;
    }
  };
  /** @param above parent rows; Infinity if unknown */
  const visit = (query: SelectQuery, above: number): void => {
    const rows = above * maxRows(query);
    if (query.kind !== 'rows' || query.shape === 'list') count(roughQuery(query), Math.min(MAX_EXPECTED, rows * ROW));
    for (const field of rowFields(query)) visitField(field, rows);
    if (query.kind === 'aggregate') for (const field of query.fields) if (field.kind === 'groups') visitGroups(query, field, above);
  };
  const visitGroups = (query: AggregateQuery, { limit, fields }: GroupsField, above: number): void => {
    const groups = above * Math.max(1, Math.min(limit ?? Number.POSITIVE_INFINITY, query.rows.limit ?? Number.POSITIVE_INFINITY));
    count(`groups ${roughQuery(query)}`, Math.min(MAX_EXPECTED, groups * ROW));
    for (const field of fields) {
      if (field.kind !== 'nodes') continue;
      const rows = Math.min(groups * (field.limit ?? Number.POSITIVE_INFINITY), above * maxRows(query));
      count(`nodes ${roughQuery(query)}`, Math.min(MAX_EXPECTED, rows * ROW));
    }
  };
  const visitField = (field: Field, rows: number): void => {
    if (field.kind === 'related') visit(field.query, rows);
    else if (field.kind === 'read' && (field.jsonPath !== null || field.read.kind !== 'column')) {
      count(FIELDS.rough(field), Math.min(MAX_EXPECTED, rows * ROW));
    }
  };
  for (const root of roots) {
    if (root.query !== undefined) visit(root.query, parents);
    else for (const field of outputFields(root)) visitField(field, Number.POSITIVE_INFINITY);
  }
  let bytes = 0;
  for (const list of lists.values()) bytes += (list.bytes * Math.max(0, list.times - FREE_READS)) / list.times;
  return Math.round(bytes);
}

/** Fields that are read of each row. */
function rowFields(query: SelectQuery): readonly Field[] {
  switch (query.kind) {
    case 'rows':
      return query.fields;
    case 'aggregate':
      return query.fields.flatMap((field) => {
        if (field.kind === 'groups') return field.fields.flatMap((each) => (each.kind === 'nodes' ? each.fields : []));
        return field.kind === 'nodes' ? field.fields : [];
      });
    case 'connection': {
      const edges = query.fields.flatMap((field) => (field.kind === 'edges' ? field.fields : []));
      return edges.flatMap((field) => (field.kind === 'node' ? field.fields : []));
    }
  }
}

function outputFields({ mutation }: MutationRoot): readonly Field[] {
  const outputs = mutation.kind === 'update-many' ? mutation.updates.map(({ output }) => output) : [mutation.output];
  return outputs.flatMap((output) =>
    output.kind === 'row' ? output.fields : output.fields.flatMap((field) => (field.kind === 'returning' ? field.fields : [])),
  );
}

/** Returns the maximum rows that are read for each parent, at least one; Infinity if unknown. An aggregate without rows counts as one. */
function maxRows(query: SelectQuery): number {
  if (query.kind === 'rows' && query.shape === 'single') return 1;
  if (query.kind === 'aggregate' && !query.fields.some(({ kind }) => kind === 'nodes' || kind === 'groups')) return 1;
  const limits = [query.rows.limit, query.kind === 'aggregate' ? query.nodesLimit : query.kind === 'connection' ? query.size : null];
  return Math.max(1, Math.min(...limits.map((limit) => limit ?? Number.POSITIVE_INFINITY)));
}

export interface DistinctRoots {
  readonly roots: readonly SelectRoot[];
  /** Layout of each root of the operation. */
  readonly places: readonly { readonly root: number; readonly layout: Layout }[];
}

export function distinctRoots(roots: readonly SelectRoot[]): DistinctRoots {
  const { items, places } = merge([roots], ROOTS, new IrKeys());
  return { roots: items, places: (places[0] ?? []).map(({ slot, inner }) => ({ root: slot, layout: inner })) };
}

export function distinctQuery<Q extends SelectQuery>(query: Q): { readonly query: Q; readonly layout: Layout } {
  const { item, layouts } = joinQueries([query], new IrKeys());
  return { query: item as Q, layout: layouts[0] ?? null };
}

export function distinctOutput(output: MutationOutput): { readonly output: MutationOutput; readonly layout: Layout } {
  const keys = new IrKeys();
  if (output.kind === 'row') {
    const { items, layouts } = mergeObjects([output.fields], FIELDS, keys);
    return { output: { kind: 'row', fields: items }, layout: layouts[0] ?? null };
  }
  const { items, layouts } = mergeObjects([output.fields], MUTATION_FIELDS, keys);
  return { output: { kind: 'response', fields: items }, layout: layouts[0] ?? null };
}

function merge<T extends Named>(lists: readonly (readonly T[])[], kind: Kind<T>, keys: IrKeys): Merged<T> {
  const counts = new Map<string, number>();
  for (const list of lists) {
    for (const item of list) {
      const rough = kind.rough(item);
      counts.set(rough, (counts.get(rough) ?? 0) + 1);
    }
  }
  const slots: T[][] = [];
  const byKey = new Map<string, T[]>();
  const found = lists.map((list) =>
    list.map((item) => {
      const rough = kind.rough(item);
      const exact = counts.get(rough) === 1 ? null : kind.exact(item, keys);
      const key = `${rough} ${exact}`;
      let slot = exact === null ? undefined : byKey.get(key);
      if (slot === undefined) {
        slot = [];
        slots.push(slot);
        if (exact !== null) byKey.set(key, slot);
      }
      return { alias: item.alias, slot, index: slot.push(item) - 1 };
    }),
  );
  const indexes = new Map(slots.map((slot, index) => [slot, index]));
  const aliases = new Set<string>();
  const joined = slots.map((slot) => {
    const { item, layouts } = kind.join(slot, keys);
    let { alias } = item;
    for (let i = 2; aliases.has(alias); i++) alias = `${item.alias}_${i}`;
    aliases.add(alias);
    return { item: alias === item.alias ? item : { ...item, alias }, layouts };
  });
  return {
    items: joined.map(({ item }) => item),
    places: found.map((list) =>
      list.map(({ alias, slot, index }) => {
        const at = indexes.get(slot) as number;
        return { alias, slot: at, inner: joined[at]?.layouts[index] ?? null };
      }),
    ),
  };
}

/** Merges lists of keys of an object into one object; each list becomes a layout of it. */
function mergeObjects<T extends Named>(
  lists: readonly (readonly T[])[],
  kind: Kind<T>,
  keys: IrKeys,
): { readonly items: readonly T[]; readonly layouts: readonly Layout[] } {
  const { items, places } = merge(lists, kind, keys);
  const layouts = places.map((list): Layout => {
    const isWhole = list.length === items.length;
    if (isWhole && list.every(({ alias, slot, inner }, i) => slot === i && inner === null && items[i]?.alias === alias)) return null;
    return list.map(({ alias, slot, inner }) => ({ key: layoutKey(alias), from: slot, inner }));
  });
  return { items, layouts };
}

/** Joins values without fields of their own. */
function first<T>(same: readonly T[]): Joined<T> {
  return { item: same[0] as T, layouts: same.map(() => null) };
}

function joinQueries(queries: readonly SelectQuery[], keys: IrKeys): Joined<SelectQuery> {
  const query = queries[0] as SelectQuery;
  if (query.kind === 'connection') return first(queries);
  if (query.kind === 'rows') {
    const lists = queries.map(({ fields }) => fields as readonly Field[]);
    const { items, layouts } = mergeObjects(lists, FIELDS, keys);
    return { item: { ...query, fields: items }, layouts };
  }
  const lists = queries.map(({ fields }) => fields as readonly AggregateField[]);
  const { items, layouts } = mergeObjects(lists, AGGREGATE_FIELDS, keys);
  return { item: { ...query, fields: items }, layouts };
}

function roughQuery({ kind, from }: SelectQuery): string {
  return `${kind} ${from.kind === 'table' ? `${from.name.schema}.${from.name.name}` : 'function'}`;
}

function keyOfQuery(query: SelectQuery, keys: IrKeys): number | null {
  // The same fields are compared in the context of their parents, and again among each other.
  return keys.once(query, () => {
    // A connection is printed under one name only.
    if (query.kind === 'connection') return null;
    const { fields: _, ...rows } = query;
    const fields = query.kind === 'rows' ? keyOfFields(query.fields, FIELDS, keys) : keyOfFields(query.fields, AGGREGATE_FIELDS, keys);
    const key = fields === null ? null : keys.of(rows);
    return key === null || fields === null ? null : keys.together([key, fields]);
  });
}

/** Number of a set of fields, whatever their names, order and count; `null` if the set equals no other. */
function keyOfFields<T extends Named>(fields: readonly T[], kind: Kind<T>, keys: IrKeys): number | null {
  const numbers = new Set<number>();
  for (const field of fields) {
    const exact = kind.exact(field, keys);
    if (exact === null) return null;
    numbers.add(keys.together([kind.rough(field), exact]));
  }
  return keys.together([...numbers].sort((a, b) => a - b));
}

/** Number of values without content. */
const NONE = -1;

const ROOTS: Kind<SelectRoot> = {
  rough: ({ query }) => roughQuery(query),
  exact: ({ query, cursor }, keys) => (cursor === undefined ? keyOfQuery(query, keys) : null),
  join: (same, keys) => {
    const { item, layouts } = joinQueries(
      same.map(({ query }) => query),
      keys,
    );
    return { item: { ...(same[0] as SelectRoot), query: item }, layouts };
  },
};

const FIELDS: Kind<Field> = {
  rough(field) {
    switch (field.kind) {
      case 'read':
        return field.read.kind === 'column' ? `column ${field.read.column}` : field.read.kind;
      case 'related':
        return roughQuery(field.query);
      default:
        return field.kind;
    }
  },
  exact(field, keys) {
    const { alias: _, ...value } = field;
    if (value.kind !== 'related') return keys.of(value);
    const query = keyOfQuery(value.query, keys);
    const join = value.join === null ? NONE : keys.of(value.join);
    return query === null || join === null ? null : keys.together([query, join]);
  },
  join(same, keys) {
    const [field] = same;
    if (field?.kind !== 'related') return first(same);
    const queries = same.flatMap((each) => (each.kind === 'related' ? [each.query] : []));
    const { item, layouts } = joinQueries(queries, keys);
    return { item: { ...field, query: item }, layouts };
  },
};

const AGGREGATE_FIELDS: Kind<AggregateField> = {
  rough: ({ kind }) => kind,
  exact(field, keys) {
    switch (field.kind) {
      case 'typename':
        return NONE;
      case 'nodes':
        return keyOfFields(field.fields, FIELDS, keys);
      case 'aggregate':
        return keyOfFields(field.fields, AGGREGATE_ITEMS, keys);
      case 'groups':
        return null;
    }
  },
  join(same, keys) {
    const [field] = same;
    if (field?.kind === 'nodes') {
      const { items, layouts } = mergeObjects(
        same.flatMap((each) => (each.kind === 'nodes' ? [each.fields] : [])),
        FIELDS,
        keys,
      );
      return { item: { ...field, fields: items }, layouts };
    }
    if (field?.kind === 'aggregate') {
      const { items, layouts } = mergeObjects(
        same.flatMap((each) => (each.kind === 'aggregate' ? [each.fields] : [])),
        AGGREGATE_ITEMS,
        keys,
      );
      return { item: { ...field, fields: items }, layouts };
    }
    return first(same);
  },
};

type FunctionField = Extract<AggregateItem, { kind: 'function' }>['fields'][number];

const AGGREGATE_ITEMS: Kind<AggregateItem> = {
  rough: (item) => (item.kind === 'function' ? item.function : item.kind),
  exact(item, keys) {
    if (item.kind === 'typename') return NONE;
    if (item.kind === 'function') return keyOfFields(item.fields, FUNCTION_FIELDS, keys);
    const { alias: _, ...value } = item;
    return keys.of(value);
  },
  join(same, keys) {
    const [item] = same;
    if (item?.kind !== 'function') return first(same);
    const { items, layouts } = mergeObjects<FunctionField>(
      same.flatMap((each) => (each.kind === 'function' ? [each.fields] : [])),
      FUNCTION_FIELDS,
      keys,
    );
    return { item: { ...item, fields: items }, layouts };
  },
};

const FUNCTION_FIELDS: Kind<FunctionField> = {
  rough: ({ kind }) => kind,
  exact({ alias: _, ...value }, keys) {
    return keys.of(value);
  },
  join: first,
};

const MUTATION_FIELDS: Kind<MutationField> = {
  rough: ({ kind }) => kind,
  exact: (field, keys) => (field.kind === 'returning' ? keyOfFields(field.fields, FIELDS, keys) : NONE),
  join(same, keys) {
    const [field] = same;
    if (field?.kind !== 'returning') return first(same);
    const { items, layouts } = mergeObjects(
      same.flatMap((each) => (each.kind === 'returning' ? [each.fields] : [])),
      FIELDS,
      keys,
    );
    return { item: { ...field, fields: items }, layouts };
  },
};
