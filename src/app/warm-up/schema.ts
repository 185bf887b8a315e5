/** Schema of the warm-up: two tables that reference each other, with columns of common types. They exist in no database. */
import { type CatalogTable, type CatalogType, nameKey } from '../../catalog/catalog.ts';
import type { Source } from '../../backend/backend.ts';
import { postgresql } from '../../databases/postgresql/index.ts';
import { decodeDocument } from '../../metadata/document.ts';
import { kindsOf } from '../../metadata/kinds.ts';
import { EMPTY_METADATA } from '../../metadata/metadata.ts';
import { createRoleSchemas, type RoleSchemasOptions } from '../../schema/role-schemas.ts';
import { buildSchemaCache } from '../../schema-cache/build.ts';
import { bytesOfText } from '../../util/bytes.ts';
import { ROOT } from '../../util/path.ts';
import type { RequestSnapshot } from '../../pipeline/request-pipeline.ts';

const SOURCE = 'default';
const SCHEMA = 'public';

/** Column names and their GraphQL scalars by table. */
const COLUMNS = {
  author: { id: 'Int', name: 'String', rating: 'numeric', score: 'float8', code: 'bpchar', born: 'timestamptz', data: 'jsonb' },
  book: { id: 'Int', title: 'String', author_id: 'Int', sold: 'Boolean', pages: 'bigint' },
} as const;

const METADATA = {
  version: 3,
  sources: [
    {
      name: SOURCE,
      kind: postgresql.kind,
      configuration: postgresql.exampleConfiguration,
      tables: [
        {
          table: 'author',
          array_relationships: [{ name: 'books', using: { foreign_key_constraint_on: { table: 'book', column: 'author_id' } } }],
        },
        { table: 'book', object_relationships: [{ name: 'author', using: { foreign_key_constraint_on: 'author_id' } }] },
      ],
    },
  ],
} as const;

function catalogType(scalar: string): CatalogType {
  const type = postgresql.types.named(scalar);
  if (type === null) throw new Error(`invariant: no column has the scalar ${scalar}`);
  return type;
}

function catalogTable(name: keyof typeof COLUMNS, id: number): CatalogTable {
  const qualified = { schema: SCHEMA, name };
  return {
    id,
    name: qualified,
    kind: 'table',
    comment: null,
    columns: Object.entries(COLUMNS[name]).map(([column, type], i) => ({
      name: column,
      type: catalogType(type),
      nullable: column !== 'id',
      hasDefault: false,
      generated: false,
      identity: false,
      comment: null,
      position: i + 1,
    })),
    primaryKey: { name: `${name}_pkey`, columns: ['id'] },
    uniqueConstraints: [],
    otherConstraints: [],
    foreignKeys:
      name === 'book'
        ? [{ name: 'book_author', columns: ['author_id'], target: { schema: SCHEMA, name: 'author' }, targetColumns: ['id'] }]
        : [],
    insertable: true,
    updatable: true,
    deletable: true,
    stored: true,
    snapshotBound: true,
  };
}

/** Cell with an empty list. */
const EMPTY_LIST = [bytesOfText('[]')];

function refused(): never {
  throw new Error('the warm-up has no database');
}

/** Source that returns empty lists for all statements. */
const source: Source = {
  runJson: async ({ columns }) => Array.from({ length: columns }, () => EMPTY_LIST),
  runRows: refused,
  runMutation: async (statements) => statements.map(({ statement }) => Array.from({ length: statement.columns }, () => EMPTY_LIST)),
  explain: refused,
  runSql: refused,
  query: refused,
  introspect: refused,
  transaction: refused,
  session: refused,
  health: refused,
  close: async () => undefined,
};

export function warmUpSnapshot(options: RoleSchemasOptions): RequestSnapshot {
  const kinds = kindsOf([postgresql]);
  const tables = [catalogTable('author', 1), catalogTable('book', 2)];
  const { cache } = buildSchemaCache({
    metadata: decodeDocument(METADATA, ROOT, kinds, EMPTY_METADATA),
    sources: new Map([
      [
        SOURCE,
        {
          kind: 'open',
          backend: postgresql,
          catalog: { tables: new Map(tables.map((table) => [nameKey(table.name), table])), functions: new Map(), version: 150_000 },
          enumValues: new Map(),
        },
      ],
    ]),
    options: { defaultNamingConvention: 'svc-default' },
  });
  const schemas = createRoleSchemas(cache, options);
  return {
    cache,
    connections: new Map([[SOURCE, source]]),
    remotes: new Map(),
    storedOperations: { allows: () => true, document: () => null, summary: () => ({ api: 'graphql', problems: [] }) },
    roleSchema: (role, variant, api) => schemas.get(role, variant, api),
  };
}
