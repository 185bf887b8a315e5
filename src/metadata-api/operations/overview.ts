/** Overview of the metadata. */
import { nonEmptyText, object, optional } from '../../metadata/codec.ts';
import { runCooperatively } from '../../util/cooperative.ts';
import { type OperationAnswer, PrintedJson } from '../answer.ts';
import { operation, type OperationGroup } from '../operation.ts';
import { overviewOf } from '../overview.ts';

const getOverview: OperationGroup = () => [
  operation({
    type: 'get_overview',
    args: object('GetOverview', { ifNot: optional(nonEmptyText) }),
    changes: 'nothing',
    errors: [],
    documentation: {
      summary:
        'Returns a compact overview of the metadata: its objects, and the permissions of each role. With `if_not`, the `tag` of an earlier overview, the answer is only `{"tag", "resource_version", "unchanged": true}` if nothing has changed.',
      details: `\`roles\` lists all roles but admin. \`granted\` and \`unrestricted\` are texts with a hexadecimal digit for each role, in this order, without trailing zeros.

A source has \`tables\`: \`[schema, name, flags, object relationships, array relationships, event triggers, granted, unrestricted]\`, and \`functions\`: \`[schema, name, flags, "query" or "mutation", granted]\`. The schema is an index in \`schemas\`. \`remote_schemas\`: \`[name, flags, granted]\`. \`actions\`: \`[name, flags, kind, granted]\`. \`event_triggers\`: \`[name, flags, source, schema, table]\`.

For a table, a digit of \`granted\` is the sum of 1 (select), 2 (insert), 4 (update) and 8 (delete), including inherited permissions; \`unrestricted\` has the permissions that exclude no row and no column. For other objects, 1 means that the role has the permission.

\`flags\` is the sum of 1 (a view), 2 (an enum table), 4 (the name is invalid in GraphQL), 8 (in the metadata, but unusable) and 16 (the object or one of its parts is inconsistent). \`unavailable\` is the reason why a source cannot be used.`,
      example: {},
    },
    async run({ ifNot }, { snapshot }): Promise<OperationAnswer> {
      const { tag, pieces } = await runCooperatively(overviewOf(snapshot));
      if (tag === ifNot) return { tag, resource_version: snapshot.resourceVersion, unchanged: true };
      return new PrintedJson(pieces);
    },
  }),
];

export const overviewOperations: readonly OperationGroup[] = [getOverview];
