/**
 * Changes of a schema that follow from another one of the same role. A new column adds a field to the type of the rows, and with it
 * members of filters, sort orders, aggregates and inputs; a new root field adds all types that it leads to.
 */
import {
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isUnionType,
} from 'graphql';
import { type ChangePlace, changePlace, type ChangeVerb } from './change-description.ts';
import type { SchemaChange } from './schema-change.ts';
import { foldedCase, plainFieldOf, rowTypeOf } from './type-names.ts';

/** Input types whose columns are those of the permission to insert. */
const INSERTED = /insert_?input/i;
const ROOTS: ReadonlySet<string> = new Set(['query_root', 'mutation_root', 'subscription_root']);
const RANKS: Readonly<Record<SchemaChange['kind'], number>> = { safe: 0, dangerous: 1, breaking: 2 };

interface Schemas {
  readonly before: GraphQLSchema;
  readonly after: GraphQLSchema;
}

/** A change with its place in the schema. */
interface Located extends ChangePlace {
  readonly change: SchemaChange;
}

/** Returns the changes without those that another one implies. A change is never left out for one that is less severe. */
export function mainChanges(changes: readonly SchemaChange[], before: GraphQLSchema, after: GraphQLSchema): readonly SchemaChange[] {
  const all = changes.flatMap((change) => withFieldsOfRoot(change, before, after));
  const located = all.flatMap((change): readonly Located[] => {
    const place = changePlace(change.message);
    return place === undefined ? [] : [{ ...place, change }];
  });
  const members = located.filter(({ member }) => member !== undefined);
  const severities = severitiesOf(members);
  const derived = new Set(members.filter((each) => isDerived(each, severities, { before, after })).map(({ change }) => change));
  const reached = {
    added: reachedTypes(
      after,
      members.filter(({ verb }) => verb !== 'removed'),
    ),
    removed: reachedTypes(
      before,
      members.filter(({ verb, change }) => verb !== 'added' && change.kind === 'breaking'),
    ),
  };
  for (const { change, verb, type, member } of located)
    if (member === undefined && verb !== 'changed' && reached[verb].has(type)) derived.add(change);
  return all.filter((change) => !derived.has(change));
}

/** Replaces the addition or removal of a root type by those of its fields, which are what a client uses. */
function withFieldsOfRoot(change: SchemaChange, before: GraphQLSchema, after: GraphQLSchema): readonly SchemaChange[] {
  const { type: name = '', verb, member } = changePlace(change.message) ?? {};
  if (member !== undefined || !ROOTS.has(name)) return [change];
  const type = (verb === 'added' ? after : before).getType(name);
  if (!isObjectType(type)) return [change];
  return Object.keys(type.getFields()).map((field) => ({ ...change, message: `${name}.${field} was ${verb}.` }));
}

const keyOf = (verb: ChangeVerb, type: string, member: string, argument = ''): string =>
  `${verb} ${foldedCase(type)}.${foldedCase(member)}${argument === '' ? '' : `(${foldedCase(argument)})`}`;

/** Returns the highest rank of the changes of each member. */
function severitiesOf(members: readonly Located[]): ReadonlyMap<string, number> {
  const ranks = new Map<string, number>();
  for (const { change, verb, type, member = '', argument } of members) {
    const key = keyOf(verb, type, member, argument);
    ranks.set(key, Math.max(RANKS[change.kind], ranks.get(key) ?? 0));
  }
  return ranks;
}

function isDerived(each: Located, severities: ReadonlyMap<string, number>, schemas: Schemas): boolean {
  // A column whose type changes may gain or lose aggregates and operators.
  const verbs: readonly ChangeVerb[] = each.verb === 'changed' ? ['changed'] : [each.verb, 'changed'];
  const origins = originsOf(each, schemas);
  const reaches = (key: string): boolean => (severities.get(key) ?? -1) >= RANKS[each.change.kind];
  return verbs.some((verb) => origins.some(({ type, member, argument }) => reaches(keyOf(verb, type, member, argument))));
}

type Origin = Pick<Located, 'type' | 'argument'> & { readonly member: string };

/** Returns the members whose change would imply this one. */
function originsOf(each: Located, schemas: Schemas): readonly Origin[] {
  const { type, member = '', argument } = each;
  const found: Origin[] = [];
  const same = argument === undefined ? {} : { argument };
  const isSubscription = type === 'subscription_root' || type.endsWith('_subscription');
  const query = isSubscription ? type.replace('subscription', 'query') : type;
  if (isSubscription) found.push({ type: query, member, ...same });
  const plain = plainFieldOf(member);
  if (plain !== undefined) {
    if (isSameTable(each, plain, schemas)) for (const owner of new Set([type, query])) found.push({ type: owner, member: plain, ...same });
    // The key of a row is an argument of `task_by_pk` and `delete_task_by_pk`.
    if (argument !== undefined) found.push({ type: plain.replace(/^(?:update|delete)_?/, ''), member: argument });
  }
  const isObject = isObjectType(schemas.after.getType(type) ?? schemas.before.getType(type));
  const rows = rowTypeOf(type, isObject ? 'object' : 'input');
  if (rows === undefined) return found;
  found.push({ type: rows, member });
  const ofUpdates = `${rows}_set_input`;
  // Columns for inserts have their own permission.
  if (!isObject && !INSERTED.test(type) && foldedCase(type) !== foldedCase(ofUpdates)) found.push({ type: ofUpdates, member });
  return found;
}

/** Returns whether a field such as `tasks_aggregate` is about the table of the field `tasks`. */
function isSameTable({ type, member = '', verb }: Located, plain: string, { before, after }: Schemas): boolean {
  const schema = verb === 'removed' ? before : after;
  const owners = [type, type.replace('subscription', 'query')];
  const [one, other] = [rowsOfField(schema, owners, member), rowsOfField(schema, owners, plain)];
  return one !== undefined && one === other;
}

function rowsOfField(schema: GraphQLSchema, owners: readonly string[], field: string): string | undefined {
  for (const owner of owners) {
    const type = schema.getType(owner);
    const found = isObjectType(type) ? type.getFields()[field] : undefined;
    if (found === undefined) continue;
    const result = getNamedType(found.type);
    return isObjectType(result) ? (rowTypeOf(result.name, 'object') ?? result.name) : undefined;
  }
  return undefined;
}

/** Returns the names of all types that the members lead to. */
function reachedTypes(schema: GraphQLSchema, members: readonly Located[]): ReadonlySet<string> {
  const found = new Set<string>();
  const pending: GraphQLNamedType[] = [];
  const add = (type: GraphQLNamedType): void => {
    if (found.has(type.name)) return;
    found.add(type.name);
    pending.push(type);
  };
  for (const { type: owner, member = '' } of members) {
    const type = schema.getType(owner);
    if (isObjectType(type) || isInterfaceType(type) || isInputObjectType(type))
      for (const next of typesOfField(type.getFields()[member])) add(next);
  }
  for (let type = pending.pop(); type !== undefined; type = pending.pop()) {
    if (isUnionType(type)) type.getTypes().forEach(add);
    else if (isObjectType(type) || isInterfaceType(type) || isInputObjectType(type))
      for (const field of Object.values(type.getFields())) typesOfField(field).forEach(add);
  }
  return found;
}

type AnyField = GraphQLField<object, object> | GraphQLInputField;

function typesOfField(field: AnyField | undefined): readonly GraphQLNamedType[] {
  if (field === undefined) return [];
  const own = getNamedType(field.type);
  return 'args' in field ? [own, ...field.args.map(({ type }) => getNamedType(type))] : [own];
}
