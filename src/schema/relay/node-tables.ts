/** The tables whose rows are nodes, over all sources of a role. */
import { nameKey } from '../../catalog/catalog.ts';
import { lazy } from '../../graphql-engine/types.ts';
import type { SchemaCache, TableInfo } from '../../schema-cache/schema-cache.ts';
import type { NodeTable, RoleTable } from '../fields/role-table.ts';
import type { SourceContext } from '../fields/source-context.ts';
import { isNodeTable, keyOf, nodeInterface } from './node.ts';
import type { NodeId } from './node-id.ts';

/** Ids in this source never name it. */
const DEFAULT_SOURCE = 'default';

/** Returns true if ids name tables in the same way: they depend on the tables of all sources, whatever a role sees of them. */
export function sameNodeNames({ sources: before }: SchemaCache, { sources: after }: SchemaCache): boolean {
  if (after.size < 2 && before.size < 2) return true;
  return [...after].every(([name, { tables }]) => {
    const known = before.get(name)?.tables;
    return known === tables || (known?.size === tables.size && [...tables.keys()].every((key) => known.has(key)));
  });
}

/** The parts of `RoleSource` that are read here. */
interface TablesOfRole {
  table(name: TableInfo['name']): RoleTable | null;
}

export class NodeTables {
  readonly #sources: readonly SourceContext[];
  readonly #ofRole: () => ReadonlyMap<string, TablesOfRole>;
  readonly #interface = lazy(() => nodeInterface(() => [...this.tables()].map((table) => table.rows().type)));

  /** @param ofRole returns the role's sources by name */
  constructor(sources: readonly SourceContext[], ofRole: () => ReadonlyMap<string, TablesOfRole>) {
    this.#sources = sources.filter(({ info }) => info.backend.capabilities.connections === true);
    this.#ofRole = ofRole;
  }

  get interface(): NodeTable['interface'] {
    return this.#interface;
  }

  /** Returns a function that describes a table of the source as nodes; null for tables without a primary key. */
  tableOf(source: SourceContext): (table: TableInfo) => NodeTable | null {
    return (table) => {
      if (!isNodeTable(source.info, table)) return null;
      const { schema, name } = table.name;
      const isNamed = source.info.name !== DEFAULT_SOURCE && this.#sourcesWith(nameKey(table.name)).length > 1;
      const names = isNamed ? [3, source.info.name, schema, name] : [1, schema, name];
      return { interface: this.#interface, names, key: keyOf(source, table) };
    };
  }

  /** Returns the tables whose rows the role may select. */
  *tables(): Iterable<RoleTable> {
    for (const { info } of this.#sources) {
      for (const table of info.tables.values()) {
        const found = this.#tableIn(info.name, table.name);
        if (found !== null) yield found;
      }
    }
  }

  /** Returns the table that an id names; null if the role may not select from it, or there is none. */
  find({ source, schema, table: name }: Pick<NodeId, 'source' | 'schema' | 'table'>): RoleTable | null {
    const tableName = { schema, name };
    if (source !== null) return this.#tableIn(source, tableName);
    const found = this.#sourcesWith(nameKey(tableName));
    const only = found.length === 1 ? found[0] : found.find(({ info }) => info.name === DEFAULT_SOURCE);
    return only === undefined ? null : this.#tableIn(only.info.name, tableName);
  }

  #tableIn(source: string, name: TableInfo['name']): RoleTable | null {
    const table = this.#ofRole().get(source)?.table(name) ?? null;
    return table === null || table.node === null || !table.hasRows ? null : table;
  }

  #sourcesWith(key: string): readonly SourceContext[] {
    return this.#sources.filter(({ info }) => info.tables.has(key));
  }
}
