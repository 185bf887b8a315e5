/** The tracked tables of a source with their columns and relationships, for diagrams. */
import { nonEmptyText, object, optional } from '../../metadata/codec.ts';
import { requireSource } from '../../metadata/lookup.ts';
import { runCooperatively } from '../../util/cooperative.ts';
import { operation, type OperationGroup } from '../operation.ts';
import { SOURCE_ERRORS } from '../operation-error.ts';
import { schemaDiagram } from '../schema-diagram.ts';
import { sourceArgument, unusable } from '../target.ts';

const getSchemaDiagram: OperationGroup = () => [
  operation({
    type: 'get_schema_diagram',
    args: object('GetSchemaDiagram', { source: sourceArgument, role: optional(nonEmptyText) }),
    changes: 'nothing',
    errors: [...SOURCE_ERRORS],
    documentation: {
      summary:
        'Returns the tracked tables of a source with their columns, foreign keys and relationships, from the cached catalog. With `role`, only the tables and columns that the role can select.',
      details: `\`tables\` has \`[schema, name, columns, foreign keys, relationships]\` for each table.

A column is \`[name, type, flags]\`; \`flags\` is the sum of 1 (part of the primary key) and 2 (nullable). A foreign key is \`[constraint, table, columns]\`, a relationship \`[name, "object" or "array", table, columns]\`: the table is an index in \`tables\`, and the columns are pairs of a column and the column of that table. Keys and relationships to tables that are not listed are left out.`,
      example: { source: 'default', role: 'user' },
    },
    async run({ source, role }, { snapshot }) {
      requireSource(snapshot.metadata, source);
      const info = snapshot.cache.sources.get(source);
      if (info === undefined) throw unusable(source, snapshot);
      return runCooperatively(schemaDiagram(info, role === 'admin' ? undefined : role));
    },
  }),
];

export const schemaDiagramOperations: readonly OperationGroup[] = [getSchemaDiagram];
