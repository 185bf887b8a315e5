/** `query_root`, `mutation_root` and `subscription_root` of one role for clients of Relay. */
import { nameKey } from '../../catalog/catalog.ts';
import { connectionRootName, functionConnectionName } from '../../schema-cache/naming.ts';
import type { FunctionInfo, SourceInfo, TableInfo } from '../../schema-cache/schema-cache.ts';
import type { InputField, OutputField, RootMeaning, RootTypes } from '../../graphql-engine/types.ts';
import { lazy, typeRef } from '../../graphql-engine/types.ts';
import { commentOr, describeRoot, quoted } from '../fields/descriptions.ts';
import { candidateFields, type FieldSet, fieldsByName, merged, NOTHING, type SourceFields } from '../fields/field-set.ts';
import { functionIsVisible, functionTarget } from '../fields/function-root.ts';
import type { SchemaVariant } from '../fields/options.ts';
import type { RoleSource } from '../fields/role-context.ts';
import type { RoleTable } from '../fields/role-table.ts';
import { RoleView } from '../fields/role-view.ts';
import { inNamespace, mutationFields, sourcesOfRole, typesOf } from '../fields/root-types.ts';
import type { SchemaContext, SourceEntry } from '../fields/schema-context.ts';
import { type ReadRoot, tableRootIsVisible } from '../fields/table-root.ts';
import { WriteSource } from '../fields/write-context.ts';
import { isNodeTable } from './node.ts';
import { nodeField } from './node-root.ts';

/** Remote schemas have no part in it: their types may have the names of Relay's. */
export function relayRootTypes(context: SchemaContext, role: string, variant: SchemaVariant): RootTypes {
  const view = new RoleView(context, role, 'relay');
  const roleSources = sourcesOfRole(context, view);
  const rootOf = (root: ReadRoot): FieldSet =>
    merged([
      { main: fieldsByName(lazy(() => nodeFields(view, root))), aliases: NOTHING },
      ...roleSources.map(({ entry, source }) => connectionFields(entry, source, root)),
    ]);
  const mutation = merged([
    ...roleSources.map(({ entry, source }) => mutationFields(entry, new WriteSource(source, variant))),
    { main: fieldsByName(lazy(() => view.actions('mutation'))), aliases: NOTHING },
  ]);
  return typesOf({ query: rootOf('query'), mutation, subscription: rootOf('subscription') });
}

/** An interface without types would be invalid. */
function nodeFields({ nodes }: RoleView, root: ReadRoot): ReadonlyMap<string, OutputField> {
  for (const _ of nodes.tables()) {
    const field = nodeField(nodes, root === 'subscription');
    return new Map([[field.name, field]]);
  }
  return new Map();
}

type Candidate = { readonly kind: 'table'; readonly info: TableInfo } | { readonly kind: 'function'; readonly info: FunctionInfo };

/** Names of the connections of a source, for all roles. */
const candidatesBySource = new WeakMap<SourceInfo, ReadonlyMap<string, Candidate>>();

function candidatesOf(source: SourceInfo): ReadonlyMap<string, Candidate> {
  const known = candidatesBySource.get(source);
  if (known !== undefined) return known;
  const made = new Map<string, Candidate>();
  const add = (name: string, candidate: Candidate): void => {
    if (!made.has(name)) made.set(name, candidate);
  };
  const hasConnections = (table: TableInfo | undefined): boolean => table?.inGraphql === true && isNodeTable(source, table);
  for (const info of source.tables.values()) if (hasConnections(info)) add(connectionRootName(source, info), { kind: 'table', info });
  for (const info of source.functions.values()) {
    const isList = info.exposedAs === 'query' && info.catalog.returnsSet && hasConnections(source.tables.get(nameKey(info.returns)));
    if (isList) add(functionConnectionName(source, info, source.backend.defaultSchema), { kind: 'function', info });
  }
  candidatesBySource.set(source, made);
  return made;
}

function connectionFields(entry: SourceEntry, source: RoleSource, root: ReadRoot): SourceFields {
  const visible = (candidate: Candidate): boolean =>
    candidate.kind === 'function'
      ? functionIsVisible(source, candidate.info, 'function')
      : tableRootIsVisible(source, candidate.info, 'select', root);
  const make = (candidate: Candidate, name: string): OutputField | undefined =>
    candidate.kind === 'function' ? functionField(source, candidate.info, name) : tableField(source, candidate.info, name);
  return inNamespace(entry, root, { main: candidateFields(() => candidatesOf(entry.context.info), visible, make), aliases: NOTHING });
}

function tableField(source: RoleSource, info: TableInfo, name: string): OutputField | undefined {
  const table = source.table(info.name);
  if (table === null) return undefined;
  const { args, query } = table.connection();
  const description = describeRoot(source.context.info, info, 'select');
  return rootField(source, table, name, description, args, (field, alias) => ({ alias, query: query(field, table.relation) }));
}

function functionField(source: RoleSource, info: FunctionInfo, name: string): OutputField | undefined {
  const found = functionTarget(source, info);
  if (found === null) return undefined;
  const { target, call } = found;
  const { query, args: own } = target.connection();
  const args = new Map<string, InputField>([...(call.argument === null ? [] : [[call.argument.name, call.argument] as const]), ...own]);
  const [printed, returned] = [info.name, info.returns].map((each) => quoted(source.context.info, each));
  const description = commentOr(info.comment, `execute function ${printed} which returns ${returned}`);
  return rootField(source, target, name, description, args, (field, alias) => ({
    alias,
    query: query(field, { kind: 'function', call: call.call(field) }),
  }));
}

function rootField(
  source: RoleSource,
  table: RoleTable,
  name: string,
  description: string | null,
  args: ReadonlyMap<string, InputField>,
  translate: Extract<RootMeaning, { kind: 'select' }>['translate'],
): OutputField {
  const { type } = table.connection();
  return {
    name,
    description,
    type: typeRef(type.name, () => type, true),
    args,
    meaning: { kind: 'select', source: source.context.info.name, translate },
  };
}
