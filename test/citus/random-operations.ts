/** Random requests for the tables of `layouts.ts`; roots start with an underscore in place of the prefix of a source. */
import type { Choices } from '../permission-safety/choices.ts';
import { KEYS, RELATED, type TableName } from './layouts.ts';

interface Column {
  readonly name: string;
  readonly values: readonly string[];
  readonly operators: readonly string[];
}

const NUMBER = ['_eq', '_gt', '_lt', '_neq', '_in', '_nin', '_is_null'];
const TEXT = ['_eq', '_neq', '_like', '_in', '_gt', '_is_null'];
const numbers = (name: string, ...values: readonly number[]): Column => ({ name, values: values.map(String), operators: NUMBER });
const texts = (name: string, ...values: readonly string[]): Column => ({
  name,
  values: values.map((v) => JSON.stringify(v)),
  operators: TEXT,
});

const COLUMNS: Readonly<Record<TableName, readonly Column[]>> = {
  tenant: [numbers('id', 1, 2, 3, 4, 5, 9), texts('name', 't1', 't3', 'q'), texts('plan', 'big', 'small'), numbers('quota', 10, 30, 99)],
  customer: [
    numbers('tenant_id', 1, 2, 3, 4, 9),
    numbers('id', 1, 2, 3, 4, 5, 6),
    texts('name', 'c0', 'c1', 'c4', 'ä"'),
    texts('city', 'a', 'b', 'c', 'x'),
    numbers('score', 0, 2, 4, 8, 12),
  ],
  orders: [
    numbers('tenant_id', 1, 2, 3, 4, 9),
    numbers('id', 1, 2, 3, 5, 7, 8),
    numbers('customer_id', 1, 2, 3, 6),
    texts('note', 'n1', 'n2', ''),
    numbers('amount', 1.5, 3, 12, 40.25),
    { name: 'paid', values: ['true', 'false'], operators: ['_eq', '_neq'] },
  ],
  line: [
    numbers('tenant_id', 1, 2, 3, 4, 9),
    numbers('order_id', 1, 2, 3, 5, 7),
    numbers('id', 1, 2, 3, 4),
    texts('product', 'p0', 'p1', 'p3', 'new'),
    numbers('quantity', 1, 2, 6, 14, 600),
  ],
  country: [texts('code', 'a', 'b', 'd', 'zz'), texts('name', 'country a', 'q'), numbers('tax', 0, 3, 6)],
};

const TABLES: readonly TableName[] = ['customer', 'orders', 'line', 'tenant', 'country'];

export interface Operation {
  readonly kind: 'read' | 'write' | 'live';
  readonly request: string;
  /** Query for the rows that a stream sends. */
  readonly rows?: string;
}

function relatedOf(table: TableName, type?: 'object' | 'array') {
  return RELATED.filter((each) => each.table === table && (type === undefined || each.type === type));
}

function comparison(choices: Choices, table: TableName): string {
  const { name, values, operators } = choices.pick(COLUMNS[table]);
  const operator = choices.pick(operators);
  if (operator === '_is_null') return `${name}: {_is_null: ${choices.chance(50)}}`;
  if (operator === '_in' || operator === '_nin') return `${name}: {${operator}: [${choices.some(values, 40).join(', ')}]}`;
  if (operator === '_like') return `${name}: {_like: "%${choices.pick(['1', 'c', 'n', ''])}%"}`;
  return `${name}: {${operator}: ${choices.pick(values)}}`;
}

/** Returns the fields of a condition. */
function condition(choices: Choices, table: TableName, depth: number): string {
  const inner = (): string => `{${condition(choices, table, depth - 1)}}`;
  const lot = depth === 0 ? 0 : choices.int(12);
  if (lot < 4) return comparison(choices, table);
  if (lot === 4) return `_and: [${inner()}, ${inner()}]`;
  if (lot === 5) return `_or: [${choices.chance(20) ? '' : `${inner()}, ${inner()}`}]`;
  if (lot === 6) return `_not: ${inner()}`;
  if (lot === 7) return `${comparison(choices, table)}, ${condition(choices, table, depth - 1)}`;
  const arrays = relatedOf(table, 'array');
  if (lot === 8 && arrays.length > 0) {
    const { name, target } = choices.pick(arrays);
    const filter = choices.chance(50) ? `, filter: {${condition(choices, target, 0)}}` : '';
    return `${name}_aggregate: {count: {predicate: {${choices.pick(['_gt: 1', '_eq: 0', '_lt: 3'])}}${filter}}}`;
  }
  const { name, target } = choices.pick(relatedOf(table).length > 0 ? relatedOf(table) : RELATED);
  if (relatedOf(table).length === 0) return comparison(choices, table);
  return `${name}: {${choices.chance(15) ? '' : condition(choices, target, depth - 1)}}`;
}

function where(choices: Choices, table: TableName, depth = 2): string {
  return `where: {${condition(choices, table, depth)}}`;
}

/** Returns an unambiguous order. */
function order(choices: Choices, table: TableName, prefix?: string): string {
  const objects = relatedOf(table, 'object');
  const first: string[] = [];
  const direction = (): string => choices.pick(['asc', 'desc', 'asc_nulls_first', 'desc_nulls_last']);
  if (choices.chance(40)) first.push(`{${choices.pick(COLUMNS[table]).name}: ${direction()}}`);
  if (choices.chance(25) && objects.length > 0) {
    const { name, target } = choices.pick(objects);
    first.push(`{${name}: {${choices.pick(COLUMNS[target]).name}: ${direction()}}}`);
  }
  if (prefix !== undefined) first.unshift(prefix);
  return `order_by: [${[...first, ...KEYS[table].map((key) => `{${key}: asc}`)].join(', ')}]`;
}

function page(choices: Choices): string {
  return `${choices.chance(35) ? `, limit: ${choices.int(4)}` : ''}${choices.chance(20) ? `, offset: ${choices.int(3)}` : ''}`;
}

function selection(choices: Choices, table: TableName, depth: number): string {
  const fields = choices.some(
    COLUMNS[table].map(({ name }) => name),
    50,
  );
  if (depth > 0) {
    for (const { type, name, target } of choices.some(relatedOf(table), 50)) {
      if (type === 'object') fields.push(`${name} { ${selection(choices, target, depth - 1)} }`);
      else {
        const filter = choices.chance(40) ? `${where(choices, target, 1)}, ` : '';
        if (choices.chance(25)) fields.push(`${name}_aggregate(${filter}${order(choices, target)}) { ${aggregate(choices, target)} }`);
        else fields.push(`${name}(${filter}${order(choices, target)}${page(choices)}) { ${selection(choices, target, depth - 1)} }`);
      }
    }
  }
  return ['__typename', ...fields].join(' ');
}

function aggregate(choices: Choices, table: TableName): string {
  const { name } = choices.pick(COLUMNS[table].filter(({ operators }) => operators !== TEXT && operators.length > 2));
  return `aggregate { count ${choices.pick(['', `sum { ${name} }`, `max { ${name} } min { ${name} }`, `c: count(columns: ${name}, distinct: true)`])} }`;
}

function read(choices: Choices): string {
  const table = choices.pick(TABLES);
  const conditions = choices.chance(70) ? `${where(choices, table)}, ` : '';
  if (choices.chance(20))
    return `_${table}_aggregate(${conditions}${order(choices, table)}${page(choices)}) { ${aggregate(choices, table)} nodes { ${selection(choices, table, 1)} } }`;
  if (choices.chance(10)) {
    const [key] = KEYS[table] as readonly [string];
    return `_${table}(${conditions}distinct_on: [${key}], ${order(choices, table, `{${key}: asc}`)}${page(choices)}) { ${selection(choices, table, 1)} }`;
  }
  return `_${table}(${conditions}${order(choices, table)}${page(choices)}) { ${selection(choices, table, 2)} }`;
}

/** Returns the values of a new row; its keys are included unless an outer row has them. */
function row(choices: Choices, table: TableName, without: readonly string[] = []): string {
  const written = COLUMNS[table].filter(
    ({ name }) => !without.includes(name) && (KEYS[table].includes(name) || name === 'name' || choices.chance(60)),
  );
  return written
    .map(({ name, values }) => `${name}: ${KEYS[table].includes(name) && name === 'id' ? 1 + choices.int(12) : choices.pick(values)}`)
    .join(', ');
}

function insert(choices: Choices): string {
  const table = choices.pick(TABLES);
  const count = 1 + choices.int(3);
  if (choices.chance(25)) {
    const lines = `lines: {data: [{id: 1, product: "new"}, {id: 2, quantity: ${choices.int(5)}}]}`;
    const orders = `orders: {data: [{id: ${20 + choices.int(20)}, paid: true, ${choices.chance(50) ? lines : 'note: "deep"'}}]}`;
    return `_insert_customer(objects: [{${row(choices, 'customer')}, ${orders}}]) { affected_rows returning { id orders(order_by: {id: asc}) { id lines(order_by: {id: asc}) { id product } } } }`;
  }
  const objects = Array.from({ length: count }, () => `{${row(choices, table)}}`).join(', ');
  const columns = COLUMNS[table].map(({ name }) => name).filter((name) => !KEYS[table].includes(name));
  const chosen = choices.some(columns, 60);
  const filter = chosen.length > 0 && choices.chance(40) ? `, ${where(choices, table, choices.chance(40) ? 1 : 0)}` : '';
  const conflict = choices.chance(50) ? `, on_conflict: {constraint: ${table}_pkey, update_columns: [${chosen.join(', ')}]${filter}}` : '';
  return `_insert_${table}(objects: [${objects}]${conflict}) { affected_rows returning { ${selection(choices, table, 1)} } }`;
}

function changes(choices: Choices, table: TableName): string {
  const columns = COLUMNS[table].filter(({ name }) => !KEYS[table].includes(name));
  const { name, values, operators } = choices.pick(columns);
  if (operators === NUMBER && choices.chance(40)) return `_inc: {${name}: ${1 + choices.int(3)}}`;
  return `_set: {${name}: ${choices.pick(values)}}`;
}

function update(choices: Choices): string {
  const table = choices.pick(TABLES);
  const returning = `affected_rows returning { ${selection(choices, table, 1)} }`;
  if (choices.chance(25)) {
    const keys = KEYS[table]
      .map((key) => `${key}: ${choices.pick(COLUMNS[table].find(({ name }) => name === key)?.values ?? ['1'])}`)
      .join(', ');
    return `_update_${table}_by_pk(pk_columns: {${keys}}, ${changes(choices, table)}) { ${selection(choices, table, 1)} }`;
  }
  if (choices.chance(15))
    return `_update_${table}_many(updates: [{${where(choices, table, 1)}, ${changes(choices, table)}}, {${where(choices, table, 0)}, ${changes(choices, table)}}]) { ${returning} }`;
  return `_update_${table}(${where(choices, table)}, ${changes(choices, table)}) { ${returning} }`;
}

function remove(choices: Choices): string {
  const table = choices.pick(TABLES);
  // Affects few rows at a time, so that some remain.
  const narrow = `${choices.pick(KEYS[table])}: {_eq: `;
  const key = narrow.slice(0, narrow.indexOf(':'));
  const value = choices.pick(COLUMNS[table].find(({ name }) => name === key)?.values ?? ['1']);
  return `_delete_${table}(where: {_and: [{${narrow}${value}}}, {${condition(choices, table, 2)}}]}) { affected_rows returning { ${selection(choices, table, 1)} } }`;
}

export function randomOperation(choices: Choices): Operation {
  const lot = choices.int(20);
  if (lot < 9) return { kind: 'read', request: `{ ${read(choices)} ${choices.chance(20) ? `b: ${read(choices)}` : ''} }` };
  if (lot === 9) {
    if (!choices.chance(25)) return { kind: 'live', request: `subscription { ${read(choices)} }` };
    const [filter, fields] = [where(choices, 'tenant', 1), selection(choices, 'tenant', 1)];
    return {
      kind: 'live',
      request: `subscription { _tenant_stream(batch_size: 9, cursor: {initial_value: {id: 0}}, ${filter}) { ${fields} } }`,
      rows: `{ _tenant(${filter}, order_by: {id: asc}) { id } }`,
    };
  }
  const write = choices.pick([insert, update, update, remove]);
  return {
    kind: 'write',
    request: `mutation { ${write(choices)} ${choices.chance(15) ? `b: ${choices.pick([insert, update])(choices)}` : ''} }`,
  };
}
