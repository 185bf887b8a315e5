/** What changes of the metadata would do: made on a draft that is thrown away, while others go on. */
import { ADMIN_ROLE } from '../auth/session.ts';
import { printGraphqlErrors, toSvcError } from '../errors/encode.ts';
import { SvcError } from '../errors/svc-error.ts';
import { describedSession } from '../pipeline/explain.ts';
import { decodeRequest } from '../pipeline/request.ts';
import { runRequest } from '../pipeline/run-request.ts';
import { anyJson, defaulted, list, nonEmptyText, object, optional, required, text } from '../metadata/codec.ts';
import { recordsOf } from '../schema-cache/inconsistency.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { type Bytes, bytesOfText, wholeBytes } from '../util/bytes.ts';
import { type Json, type JsonObject, printJson } from '../util/json.ts';
import { at } from '../util/path.ts';
import { inSlices } from '../util/sliced.ts';
import { PrintedJson } from '../metadata-api/answer.ts';
import { brokenQueries } from './broken-queries.ts';
import { type Wanted, whileWanted } from '../state/wanted.ts';
import { differingSchemas } from './differing-schemas.ts';
import { define, operation, type OperationContext, type OperationGroup } from '../metadata-api/operation.ts';
import { refused } from '../metadata-api/operation-error.ts';
import { DEFAULT_KIND } from '../metadata/source.ts';
import { encodeDifference, schemaDifference } from './schema-difference.ts';

interface PreviewedQuery {
  readonly query: string;
  readonly variables?: Json;
  readonly operationName?: string;
  /** The session variables of whom it is run as. */
  readonly user?: Json;
}

interface PreviewChanges {
  readonly changes: readonly Json[];
  readonly roles: readonly string[] | undefined;
  readonly queries: readonly PreviewedQuery[];
}

const MOST_CHANGES = 1000;
const MOST_QUERIES = 20;
/** Schemas of roles that are compared; each takes time. */
const MOST_ROLES = 50;

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
        refused('not-supported', 'a change is an operation that does more than change the metadata'),
        refused(
          'access-denied',
          'the metadata is read-only (`--metadata-read-only`), and a change brings an address that the service would call',
        ),
        refused('timeout', 'the time limit of requests passed'),
        refused('bad-request', `there are more than ${MOST_CHANGES} changes or ${MOST_QUERIES} queries`),
      ],
      documentation: {
        summary:
          'Makes changes of the metadata on a draft that nobody else sees and that is thrown away, and tells what would come of it. A change that would be refused is refused, with the same error at its own place.',
        details: `\`changes\` are operations as the elements of a \`bulk\`. The answer has \`is_consistent\` and \`inconsistent_objects\` as they would be, and in \`schema_diff\` how the schemas of roles would differ: of the \`roles\` that are named, else of all but admin, each with lists of what is \`added\`, \`removed\` and \`changed\`, up to 500 each, and \`counts\` of all. A type that is new or gone is one line; its fields are not told. \`roles_not_compared\` are those beyond ${MOST_ROLES}. \`broken_queries\` has the queries of the allow-list and of REST endpoints that are valid for a role whose schema differs, and would not be any more: their \`collection\`, \`name\`, \`role\`, \`problems\`, \`rest_endpoints\`, \`in_allowlist\`; up to 100, \`broken_query_count\` in all.

\`queries\` are run on the draft, each as the \`user\` whose session variables are given (admin without \`x-svc-role\`), where nothing can be written; mutations are refused. \`answers\` has what each answers, \`{"data"}\` or \`{"errors"}\`. The databases, and what event triggers have there, stay as they are; databases and servers that a change brings are asked what they have (not with \`--metadata-read-only\`, which refuses them).`,
        example: {
          changes: [
            {
              type: `${DEFAULT_KIND}_create_select_permission`,
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
  const { snapshot, services, path, signal, how } = context;
  const wanted: Wanted = { signal, deadline: how.deadline };
  if (changes.length > MOST_CHANGES) throw new SvcError('bad-request', `at most ${MOST_CHANGES} changes can be tried at a time`);
  if (queries.length > MOST_QUERIES) throw new SvcError('bad-request', `at most ${MOST_QUERIES} queries can be run at a time`);
  const requests = queries.map(({ query, variables = null, operationName = null, user }, i) => ({
    request: decodeRequest({ query, variables, operationName }),
    session: describedSession(user, at(at(at(path, 'queries'), i), 'user')),
  }));
  return services.state.trial(async (draft) => {
    await services.changeDraft(draft, changes, context, at(path, 'changes'));
    const after = draft.current();
    const { inconsistencies } = after.cache;
    const head: JsonObject = {
      is_consistent: inconsistencies.length === 0,
      inconsistent_objects: [...recordsOf(inconsistencies)],
      ...(await differences(snapshot, after, roles, wanted)),
    };
    const pieces: Bytes[] = [bytesOfText(`${printJson(head).slice(0, -1)},"answers":[`)];
    const how = { ...context.how, queriesOnly: true, writesNothing: true };
    for (const [i, { request, session }] of requests.entries()) {
      if (i > 0) pieces.push(bytesOfText(','));
      try {
        pieces.push(...wholeBytes(await runRequest({ pipeline: services.pipeline, snapshot: after, session, request, how })));
      } catch (thrown) {
        pieces.push(bytesOfText(printGraphqlErrors(toSvcError(thrown), services.showInternal)));
      }
    }
    pieces.push(bytesOfText(']}'));
    return new PrintedJson(pieces);
  }, wanted);
}

/** @throws SvcError timeout */
async function differences(before: Snapshot, after: Snapshot, wanted: readonly string[] | undefined, until: Wanted): Promise<JsonObject> {
  const all = wanted ?? [...new Set([...before.cache.roles, ...after.cache.roles])].filter((role) => role !== ADMIN_ROLE).sort();
  const goOn = whileWanted(until, 'schemas were compared');
  const schemas = differingSchemas({ before, after, roles: [...new Set(all)], most: MOST_ROLES, goOn });
  const compared: JsonObject[] = [];
  for (;;) {
    const next = await schemas.next();
    if (next.done === true) {
      const { listed, count } = await inSlices(
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
    compared.push({ role, ...encodeDifference(await inSlices(schemaDifference(texts.before, texts.after), goOn)) });
  }
}

export const previewOperations: readonly OperationGroup[] = [previewChanges];
