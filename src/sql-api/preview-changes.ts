/** `preview_changes`: the effect of metadata changes, made on a draft that is discarded. */
import { ADMIN_ROLE } from '../auth/session.ts';
import { printGraphqlErrors, toSvcError } from '../errors/encode.ts';
import { SvcError } from '../errors/svc-error.ts';
import { sessionOfUser } from '../pipeline/explain.ts';
import { decodeRequest, requireText } from '../pipeline/request.ts';
import { runRequest } from '../pipeline/run-request.ts';
import { anyJson, defaulted, list, nonEmptyText, object, optional, required, text } from '../metadata/codec.ts';
import { recordsOf } from '../schema-cache/inconsistency.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { type Bytes, bytesOfText, wholeBytes } from '../util/bytes.ts';
import { type Json, type JsonObject, printJson } from '../util/json.ts';
import { at } from '../util/path.ts';
import { runCooperatively } from '../util/cooperative.ts';
import { PrintedJson } from '../metadata-api/answer.ts';
import { brokenQueries } from './broken-queries.ts';
import { deadlineCheck } from '../state/deadline-check.ts';
import type { CallOptions } from '../util/deadline.ts';
import { differingSchemas } from './differing-schemas.ts';
import { define, operation, type OperationContext, type OperationGroup } from '../metadata-api/operation.ts';
import { refused } from '../metadata-api/operation-error.ts';
import { DEFAULT_SOURCE_KIND } from '../metadata/source.ts';
import { encodeDifference, schemaDifference } from './schema-difference.ts';

interface PreviewedQuery {
  readonly query: string;
  readonly variables?: Json;
  readonly operationName?: string;
  /** Session variables. */
  readonly user?: Json;
}

interface PreviewChanges {
  readonly changes: readonly Json[];
  readonly roles: readonly string[] | undefined;
  readonly queries: readonly PreviewedQuery[];
}

const MAX_CHANGES = 1000;
const MAX_QUERIES = 20;
/** Maximum number of roles whose schemas are compared; each takes time. */
const MAX_ROLES = 50;

const previewedQuery = object('PreviewedQuery', {
  query: required(text),
  variables: optional(anyJson),
  operationName: optional(nonEmptyText, 'operationName'),
  user: optional(anyJson),
});

const previewChanges: OperationGroup = () => [
  operation({
    type: 'preview_changes',
    ...define<PreviewChanges>({
      args: object('PreviewChanges', {
        changes: required(list(anyJson)),
        roles: optional(list(nonEmptyText)),
        queries: defaulted(list(previewedQuery), () => []),
      }),
      changes: 'nothing',
      errors: [
        refused('not-supported', 'one of the operations does more than change the metadata'),
        refused(
          'access-denied',
          'the metadata is read-only (`--metadata-read-only`), and a change has a new address that the service would call',
        ),
        refused('timeout', 'the request timeout passed'),
        refused('bad-request', `there are more than ${MAX_CHANGES} changes or ${MAX_QUERIES} queries`),
      ],
      documentation: {
        summary:
          'Applies metadata changes to a draft that is discarded, and returns their effect: inconsistent objects, changes of GraphQL schemas, broken stored queries.',
        details: `\`changes\` are operations, as in a \`bulk\`. If one of them would be refused, the preview fails with its error and its path.

The answer has \`is_consistent\` and \`inconsistent_objects\` after the changes. \`schema_diff\` has the schema changes for each of the \`roles\`, or of all roles but admin if \`roles\` is absent: lists of \`added\`, \`removed\` and \`changed\` members, up to 500 each, and the full \`counts\`. A new or removed type is one line without its fields. At most ${MAX_ROLES} roles are compared; \`roles_not_compared\` lists the others. \`broken_queries\` lists the queries of the allow-list and of REST endpoints that become invalid for a role whose schema differs, with \`collection\`, \`name\`, \`role\`, \`problems\`, \`rest_endpoints\` and \`in_allowlist\`: up to 100, with the full \`broken_query_count\`.

\`queries\` run on the draft without write access, each with the session variables of \`user\` (admin without \`x-svc-role\`); mutations are refused. \`answers\` has the answer of each, \`{"data"}\` or \`{"errors"}\`. Databases and the event triggers in them do not change. New databases and remote servers are introspected, unless \`--metadata-read-only\` refuses them.`,
        example: {
          changes: [
            {
              type: `${DEFAULT_SOURCE_KIND}_create_select_permission`,
              args: { table: 'article', role: 'guest', permission: { columns: ['id'], filter: { author_id: { _eq: 1 } } } },
            },
          ],
          roles: ['guest'],
          queries: [{ query: '{ article { id } }', user: { 'x-svc-role': 'guest' } }],
        },
      },
      run: (args, context) => preview(args, context),
    }),
  }),
];

async function preview({ changes, roles, queries }: PreviewChanges, context: OperationContext): Promise<PrintedJson> {
  const { snapshot, services, path, signal, requestOptions } = context;
  const callOptions: CallOptions = { signal, deadline: requestOptions.deadline };
  if (changes.length > MAX_CHANGES) throw new SvcError('bad-request', `a preview can have at most ${MAX_CHANGES} changes`);
  if (queries.length > MAX_QUERIES) throw new SvcError('bad-request', `a preview can have at most ${MAX_QUERIES} queries`);
  const requests = queries.map(({ query, variables = null, operationName = null, user }, i) => ({
    request: requireText(decodeRequest({ query, variables, operationName })),
    session: sessionOfUser(user, at(at(at(path, 'queries'), i), 'user')),
  }));
  return services.state.trial(async (draft) => {
    await services.changeDraft(draft, changes, context, at(path, 'changes'));
    const after = draft.current();
    const { inconsistencies } = after.cache;
    const head: JsonObject = {
      is_consistent: inconsistencies.length === 0,
      inconsistent_objects: [...recordsOf(inconsistencies)],
      ...(await differences(snapshot, after, roles, callOptions)),
    };
    const pieces: Bytes[] = [bytesOfText(`${printJson(head).slice(0, -1)},"answers":[`)];
    const options = { ...requestOptions, queriesOnly: true, readOnly: true };
    // No client has sent these requests.
    const { recent: _, ...pipeline } = services.pipeline;
    for (const [i, { request, session }] of requests.entries()) {
      if (i > 0) pieces.push(bytesOfText(','));
      try {
        pieces.push(...wholeBytes(await runRequest({ pipeline, snapshot: after, session, request, options })));
      } catch (thrown) {
        pieces.push(bytesOfText(printGraphqlErrors(toSvcError(thrown), services.showInternal)));
      }
    }
    pieces.push(bytesOfText(']}'));
    return new PrintedJson(pieces);
  }, callOptions);
}

/** @throws SvcError timeout */
async function differences(
  before: Snapshot,
  after: Snapshot,
  selected: readonly string[] | undefined,
  callOptions: CallOptions,
): Promise<JsonObject> {
  const all = selected ?? [...new Set([...before.cache.roles, ...after.cache.roles])].filter((role) => role !== ADMIN_ROLE).sort();
  const goOn = deadlineCheck(callOptions, 'schemas were compared');
  const schemas = differingSchemas({ before, after, roles: [...new Set(all)], maxRoles: MAX_ROLES, goOn });
  const compared: JsonObject[] = [];
  for (;;) {
    const next = await schemas.next();
    if (next.done === true) {
      const { listed, count } = await runCooperatively(
        brokenQueries(
          before,
          after,
          compared.map(({ role }) => String(role)),
        ),
        goOn,
      );
      return {
        schema_diff: compared,
        roles_not_compared: next.value,
        broken_queries: listed.map(({ role, collection, query, problems, endpoints, isAllowed }) => ({
          collection,
          name: query.name,
          role,
          problems: [...problems],
          rest_endpoints: [...endpoints],
          in_allowlist: isAllowed,
        })),
        broken_query_count: count,
      };
    }
    const { role, ...texts } = next.value;
    compared.push({ role, ...encodeDifference(await runCooperatively(schemaDifference(texts.before, texts.after), goOn)) });
  }
}

export const previewOperations: readonly OperationGroup[] = [previewChanges];
