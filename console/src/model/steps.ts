/** Steps of a change: the operations of one `bulk`. */
import type { Json, JsonObject } from './json.ts';

export interface Step {
  readonly type: string;
  readonly args: JsonObject;
}

/** Returns the request body for steps: one version, all or nothing. @param written request with these steps, as the user wrote it */
export function requestOf(steps: readonly Step[], resourceVersion?: number, written?: JsonObject): JsonObject {
  const [only] = steps;
  const version: JsonObject = resourceVersion === undefined ? {} : { resource_version: resourceVersion };
  if (written !== undefined) return { ...version, ...written };
  if (steps.length === 1 && only !== undefined) return { type: only.type, ...version, args: only.args };
  return { type: 'bulk', ...version, args: steps.map(({ type, args }) => ({ type, args })) };
}

const VERBS: Readonly<Record<string, string>> = {
  create: 'Create',
  add: 'Add',
  drop: 'Drop',
  delete: 'Delete',
  remove: 'Remove',
  set: 'Set',
  track: 'Track',
  untrack: 'Untrack',
  update: 'Update',
  rename: 'Rename',
  replace: 'Replace',
  reload: 'Reload',
  clear: 'Clear',
};

/** Describes a step in words. */
export function describeStep({ type, args }: Step, kinds: readonly string[]): string {
  const kind = kinds.find((name) => type.startsWith(`${name}_`));
  const words = (kind === undefined ? type : type.slice(kind.length + 1)).split('_');
  const verb = VERBS[words[0] ?? ''];
  const phrase = verb === undefined ? words.join(' ') : [verb, ...words.slice(1)].join(' ');
  const about = [
    typeof args['name'] === 'string' ? args['name'] : undefined,
    args['table'] === undefined ? undefined : `on ${labelOf(args['table'])}`,
    typeof args['role'] === 'string' ? `for ${args['role']}` : undefined,
  ].filter((part) => part !== undefined);
  const tables = args['tables'];
  if (Array.isArray(tables)) about.push(`${tables.length} ${tables.length === 1 ? 'table' : 'tables'}`);
  return [phrase, ...about].join(' ');
}

/** Table name for display. */
export function labelOf(table: Json): string {
  if (typeof table === 'string') return table;
  if (Array.isArray(table)) return table.map(String).join('.');
  if (table === null || typeof table !== 'object') return String(table);
  const { dataset, schema = dataset, name } = table as JsonObject;
  return typeof schema === 'string' && schema !== '' ? `${schema}.${String(name)}` : String(name);
}

/** Returns true if a step drops something; such changes are reviewed first. */
export function isDestructive({ type }: Step): boolean {
  // Not `pg_create_delete_permission`.
  return !/(?:^|_)create_/.test(type) && /(?:^|_)(?:drop|delete|untrack|remove|clear|cleanup|replace)_/.test(type);
}
