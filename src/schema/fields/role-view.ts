/** Everything that one role sees, over all sources and remote schemas; built on demand. */
import { ADMIN_ROLE } from '../../auth/session.ts';
import type { QualifiedName } from '../../catalog/catalog.ts';
import type { RemoteRelationshipInfo } from '../../schema-cache/schema-cache.ts';
import { actionRootFields } from '../actions/action-roots.ts';
import { ActionTypes } from '../actions/action-types.ts';
import { RemoteTypes } from '../remote/remote-types.ts';
import { lazy, type OutputField } from '../../graphql-engine/types.ts';
import type { OperationRoot } from '../../schema-cache/naming.ts';
import { fieldsOfCustomType, fieldsOfRemoteType, fieldsOfTable, type VisibleTargets } from './joined-fields.ts';
import { RoleSource } from './role-context.ts';
import type { RoleTable } from './role-table.ts';
import { NodeTables } from '../relay/node-tables.ts';
import type { SchemaApi } from '../../metadata/schema-api.ts';
import type { SchemaContext } from './schema-context.ts';
import { nameKey } from '../../catalog/catalog.ts';

const NONE: ReadonlyMap<string, RemoteRelationshipInfo> = new Map();

export class RoleView implements VisibleTargets {
  readonly role: string;
  readonly sources: ReadonlyMap<string, RoleSource>;
  readonly nodes: NodeTables;
  readonly #context: SchemaContext;
  readonly #remotes = new Map<string, RemoteTypes | null>();
  readonly #actionTypes = lazy(
    () =>
      new ActionTypes({
        types: this.#context.customTypes,
        scalar: (info) => this.#context.scalar(info),
        joinedFields: ({ name }) => fieldsOfCustomType(this, name, this.#context.customTypeRelationships.get(name) ?? NONE),
      }),
  );

  /** @param api Relay's schema has nodes, and no fields of other sources and servers */
  constructor(context: SchemaContext, role: string, api: SchemaApi = 'graphql') {
    this.role = role;
    this.#context = context;
    const nodes = new NodeTables(
      context.sources.map(({ context: source }) => source),
      () => this.sources,
    );
    this.nodes = nodes;
    this.sources = new Map(
      context.sources.map(({ context: source }) => {
        const parts = api === 'relay' ? { node: nodes.tableOf(source) } : { joinedFields: (table: RoleTable) => this.#joinedFields(table) };
        return [source.info.name, new RoleSource(source, role, parts)];
      }),
    );
  }

  /** Returns null if there is no such table, or the role may not select from it. */
  table(source: string, name: QualifiedName): RoleTable | null {
    return this.sources.get(source)?.table(name) ?? null;
  }

  /** Returns null if there is no such remote schema, or the role sees nothing of it. */
  remote(name: string): RemoteTypes | null {
    let types = this.#remotes.get(name);
    if (types === undefined) {
      types = this.#makeRemote(name);
      this.#remotes.set(name, types);
    }
    return types;
  }

  *remotes(): Iterable<RemoteTypes> {
    for (const name of this.#context.remoteSchemas.keys()) {
      const types = this.remote(name);
      if (types !== null) yield types;
    }
  }

  /** Returns the root fields of actions that the role may call. */
  actions(root: OperationRoot): ReadonlyMap<string, OutputField> {
    return actionRootFields(this.#context.actions, this.#actionTypes(), this.role, root);
  }

  #makeRemote(name: string): RemoteTypes | null {
    const info = this.#context.remoteSchemas.get(name);
    if (info === undefined) return null;
    const isWhole = info.permissions === null || this.role === ADMIN_ROLE;
    const model = isWhole ? info.model : info.permissions.get(this.role);
    if (model === undefined) return null;
    const types: RemoteTypes = new RemoteTypes({
      name,
      model,
      names: info.names,
      joinedFields: (type) => fieldsOfRemoteType(this, types, type, this.#context.remoteTypeRelationships.get(name)?.get(type) ?? NONE),
    });
    return types;
  }

  #joinedFields(table: RoleTable): readonly OutputField[] {
    const relationships = this.#context.remoteRelationships.get(table.source.info.name)?.get(nameKey(table.info.name));
    return relationships === undefined ? [] : fieldsOfTable(this, table, relationships);
  }
}
