/** `query_root`, `mutation_root` and `subscription_root` of one role. */
import { type NamespaceSuffix, namespaceTypeName, type OperationRoot } from '../../schema-cache/naming.ts';
import type { SourceInfo, TableInfo } from '../../schema-cache/schema-cache.ts';
import type { OutputField, RootTypes } from '../../graphql-engine/types.ts';
import { lazy, typeRef } from '../../graphql-engine/types.ts';
import { builtin, STRING_SCALAR } from '../../graphql-engine/input/built-in-scalars.ts';
import { NO_QUERIES } from './descriptions.ts';
import { federationFields } from './federation.ts';
import {
  candidateFields,
  type FieldSet,
  fieldsByName,
  hasNoFields,
  merged,
  NOTHING,
  rootObject,
  type SourceFields,
  withFields,
} from './field-set.ts';
import { functionIsVisible, functionRootField } from './function-root.ts';
import { mutationField, mutationIsVisible } from './mutation-root.ts';
import type { SchemaVariant } from './options.ts';
import { remoteRootFields } from '../remote/remote-roots.ts';
import type { RoleSource } from './role-context.ts';
import { RoleView } from './role-view.ts';
import { PLACEHOLDER_FIELD } from './placeholder.ts';
import type { MutationCandidate, RootCandidate } from './root-index.ts';
import type { SchemaContext, SourceEntry } from './schema-context.ts';
import { type ReadRoot, tableRootField, tableRootIsVisible } from './table-root.ts';
import { WriteSource } from './write-context.ts';

/** @param federation if true, the query root has the fields of a subgraph */
export function rootTypes(context: SchemaContext, role: string, variant: SchemaVariant, federation = false): RootTypes {
  const view = new RoleView(context, role);
  const roleSources = sourcesOfRole(context, view);
  const remoteFields = (operation: 'query' | 'mutation'): readonly SourceFields[] =>
    [...view.remotes()].map((types) => ({ main: fieldsByName(lazy(() => remoteRootFields(types, operation))), aliases: NOTHING }));
  const actionFields = (root: OperationRoot): SourceFields => ({ main: fieldsByName(lazy(() => view.actions(root))), aliases: NOTHING });
  const rootOf = (root: ReadRoot): FieldSet =>
    merged([
      ...roleSources.map(({ entry, source }) => readFields(entry, source, root)),
      actionFields(root),
      ...(root === 'query' ? remoteFields('query') : []),
    ]);
  const query = rootOf('query');
  const subscription = rootOf('subscription');
  const mutation = merged([
    ...roleSources.map(({ entry, source }) => mutationFields(entry, new WriteSource(source, variant))),
    actionFields('mutation'),
    ...remoteFields('mutation'),
  ]);
  const subgraphFields = lazy(() =>
    federationFields(
      roleSources.map(({ source }) => source),
      // Built separately: all types together take much memory, which only this use needs.
      () => rootTypes(context, role, variant, federation),
    ),
  );
  return typesOf({ query, mutation, subscription }, federation ? subgraphFields : null);
}

interface SourceOfRole {
  readonly entry: SourceEntry;
  readonly source: RoleSource;
}

/** Returns the sources of a schema, as a role sees them. */
export function sourcesOfRole(context: SchemaContext, view: RoleView): readonly SourceOfRole[] {
  return context.sources.map((entry) => ({ entry, source: view.sources.get(entry.context.info.name) as RoleSource }));
}

/**
 * Returns the root types with these fields. The query root always exists.
 * @param further fields of the query root; `null` for none
 */
export function typesOf(
  { query, mutation, subscription }: Readonly<Record<OperationRoot, FieldSet>>,
  further: (() => ReadonlyMap<string, OutputField>) | null = null,
): RootTypes {
  const own = hasNoFields(query) ? placeholder() : query;
  return {
    query: rootObject('query_root', null, further === null ? own : withFields(own, further)),
    mutation: hasNoFields(mutation) ? null : rootObject('mutation_root', 'mutation root', mutation),
    subscription: hasNoFields(subscription) ? null : rootObject('subscription_root', null, subscription),
  };
}

function placeholder(): FieldSet {
  const field: OutputField = {
    name: PLACEHOLDER_FIELD,
    description: NO_QUERIES,
    type: builtin(STRING_SCALAR, true),
    args: new Map(),
    meaning: { kind: 'constant', json: NO_QUERIES },
  };
  return {
    names: () => [PLACEHOLDER_FIELD],
    has: (name) => name === PLACEHOLDER_FIELD,
    field: (name) => (name === PLACEHOLDER_FIELD ? field : undefined),
  };
}

function tableOf(info: SourceInfo, key: string): TableInfo {
  return info.tables.get(key) as TableInfo;
}

function readFields(entry: SourceEntry, source: RoleSource, root: ReadRoot): SourceFields {
  const visible = (candidate: RootCandidate): boolean =>
    candidate.kind === 'function'
      ? functionIsVisible(source, candidate.info, candidate.key)
      : tableRootIsVisible(source, tableOf(entry.context.info, candidate.table), candidate.key, root);
  const make = (candidate: RootCandidate, name: string): OutputField | undefined =>
    candidate.kind === 'function'
      ? functionRootField(source, candidate.info, candidate.key, name)
      : tableRootField(source, tableOf(entry.context.info, candidate.table), candidate.key, name);
  const roots = candidateFields(() => entry.roots().roots, visible, make);
  const aliases = candidateFields(() => entry.roots().aliases, visible, make);
  const streams = candidateFields(() => entry.roots().streams, visible, make);
  const main = root === 'query' ? roots : merged([roots, streams].map((set) => ({ main: set, aliases: NOTHING })));
  return inNamespace(entry, root, { main, aliases });
}

export function mutationFields(entry: SourceEntry, source: WriteSource): SourceFields {
  const visible = (candidate: MutationCandidate): boolean =>
    candidate.kind === 'function'
      ? functionIsVisible(source.reading, candidate.info, 'function')
      : mutationIsVisible(source, tableOf(entry.context.info, candidate.table), candidate.key);
  const make = (candidate: MutationCandidate, name: string): OutputField | undefined =>
    candidate.kind === 'function'
      ? functionRootField(source.reading, candidate.info, 'function', name)
      : mutationField(source, tableOf(entry.context.info, candidate.table), candidate.key, name);
  const main = candidateFields(() => entry.roots().mutations, visible, make);
  return inNamespace(entry, `mutation_${source.writer.variant}`, { main, aliases: NOTHING });
}

/** Returns the roots of a source, or the one field of its namespace. */
export function inNamespace(entry: SourceEntry, suffix: NamespaceSuffix, fields: SourceFields): SourceFields {
  const namespace = entry.context.info.customization.rootFields.namespace;
  if (namespace === undefined || namespace === '') return fields;

  const inner = merged([fields]);
  const present = lazy(() => !hasNoFields(inner));
  const field = lazy((): OutputField => {
    const type = rootObject(namespaceTypeName(entry.context.info, suffix), null, inner);
    return {
      name: namespace,
      description: null,
      type: typeRef(type.name, () => type),
      args: new Map(),
      meaning: { kind: 'namespace', type },
    };
  });
  const only: FieldSet = {
    names: () => (present() ? [namespace] : []),
    has: (name) => name === namespace && present(),
    field: (name) => (name === namespace && present() ? field() : undefined),
  };
  return { main: only, aliases: NOTHING };
}
