/** What is there, in one small answer. */
import { nonEmptyText, object, optional } from '../../metadata/codec.ts';
import { inSlices } from '../../util/sliced.ts';
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
        'Tells in one small answer what the metadata has and which role may do what; with `if_not`, the `tag` of an overview that the client has, only `{"tag", "resource_version", "unchanged": true}` while nothing has changed.',
      details: `\`roles\` are all but admin. In what is listed, they have a digit each, in this order, of which those at the end are left out that are 0.

A source has \`tables\`: \`[schema, name, flags, object relationships, array relationships, event triggers, granted, unrestricted]\`, and \`functions\`: \`[schema, name, flags, "query" or "mutation", granted]\`, where the schema is a place in \`schemas\`. \`remote_schemas\`: \`[name, flags, granted]\`. \`actions\`: \`[name, flags, kind, granted]\`. \`event_triggers\`: \`[name, flags, source, schema, table]\`.

The digits of \`granted\` of a table are the sums of 1 (select), 2 (insert), 4 (update), 8 (delete), of what is inherited too; in \`unrestricted\` the same of what leaves no row and no column out. Of others, 1 says that the role has it.

Flags are the sums of 1 (a view), 2 (an enum table), 4 (its name is none for GraphQL), 8 (it is in the metadata, but cannot be used) and 16 (it, or something of it, is inconsistent). \`unavailable\` is why a source cannot be used.`,
      example: {},
    },
    async run({ ifNot }, { snapshot }): Promise<OperationAnswer> {
      const { tag, pieces } = await inSlices(overviewOf(snapshot));
      if (tag === ifNot) return { tag, resource_version: snapshot.resourceVersion, unchanged: true };
      return new PrintedJson(pieces);
    },
  }),
];

export const overviewOperations: readonly OperationGroup[] = [getOverview];
