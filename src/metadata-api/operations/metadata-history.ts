/** History of metadata changes. */
import { type Codec, defaulted, int, leaf, like, nonNegativeInt, object, optional, parseFailed, required } from '../../metadata/codec.ts';
import { encodeDocument } from '../../metadata/encode-document.ts';
import type { PieceName } from '../../metadata/pieces.ts';
import { HISTORY_LIMITS, type RecordedChange } from '../../metadata-store/metadata-history.ts';
import { runCooperatively } from '../../util/cooperative.ts';
import type { JsonObject } from '../../util/json.ts';
import { operation, type OperationGroup, SUCCESS } from '../operation.ts';
import { refused } from '../operation-error.ts';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

const listLimit: Codec<number> = leaf(
  'HistoryLimit',
  (json, path) => {
    const limit = int.decode(json, path);
    if (limit < 1 || limit > MAX_LIMIT) throw parseFailed(`expected a number from 1 to ${MAX_LIMIT}, encountered ${limit}`, path);
    return limit;
  },
  (value) => value,
  like(int),
);

const versionArguments = object('MetadataVersion', { resourceVersion: required(nonNegativeInt('resource_version')) });

const NOT_KEPT = refused('not-exists', 'the history has no change with this version');
/** Maximum length of a name in the list of changes, in characters. */
const MAX_NAME = 200;
const MIB = 1024 * 1024;
const { changes, bytes, bytesOfChange } = HISTORY_LIMITS;

/** Type, source and name of a changed object. */
type DescribedName = { readonly type: string; readonly source?: string; readonly name: string };

/** Returns the names of a changed object. */
function described({ kind, source, key }: PieceName): DescribedName {
  if (kind === 'source') return { type: kind, name: source };
  if (kind !== 'table' && kind !== 'function') return { type: kind, name: key };
  const [schema = '', name = ''] = JSON.parse(key) as readonly string[];
  return { type: kind, source, name: schema === '' ? name : `${schema}.${name}` };
}

/** Cuts the names of an object. */
function cut({ type, source, name }: DescribedName): DescribedName {
  return { type, ...(source === undefined ? {} : { source: source.slice(0, MAX_NAME) }), name: name.slice(0, MAX_NAME) };
}

function listed({ resourceVersion, at, origin, objectCount, hasObjects, objects }: RecordedChange): JsonObject {
  const { role = null, user = null, credentials = null, client = null, ip = null, requestId = null, operations = [] } = origin ?? {};
  return {
    ...{ resource_version: resourceVersion, at, role, user, credentials, client, ip, request_id: requestId },
    operations: [...operations],
    object_count: objectCount,
    has_objects: hasObjects,
    objects: objects.map(({ change, ...name }) => ({ ...cut(described(name)), change })),
  };
}

const history: OperationGroup = () => [
  operation({
    type: 'get_metadata_history',
    args: object('GetMetadataHistory', {
      limit: defaulted(listLimit, () => DEFAULT_LIMIT),
      before: optional(nonNegativeInt('before')),
    }),
    changes: 'nothing',
    errors: [],
    documentation: {
      summary: `Lists the last changes of the metadata by all instances, newest first: version, time, author, the types of the operations, and the first changed objects, with at most ${MAX_NAME} characters of their names. \`limit\` is at most ${MAX_LIMIT} and defaults to ${DEFAULT_LIMIT}. \`before\` lists only changes with a lower version.`,
      details: `\`user\` is the session variable \`x-svc-user-id\`, \`client\` the header \`x-svc-client-name\`. \`credentials\` is \`admin-secret\`, \`jwt\`, \`webhook\`, or \`none\` for a service without an admin secret. The author is null for a change that the service makes itself, such as the first source. Operations that leave the document as it is, such as \`reload_metadata\`, are not listed.

The metadata database keeps the last ${changes} changes, and ${bytes / MIB} MiB of the newest objects. If \`has_objects\` is false, the objects of the change were larger than ${bytesOfChange / MIB} MiB, or were deleted for newer ones. \`complete_since\` is the oldest version that \`get_metadata_version\` returns.`,
      example: { limit: 20 },
    },
    async run(page, { services }) {
      const { changes: found, completeSince } = await services.metadataHistory.list(page);
      return { history: found.map(listed), complete_since: completeSince };
    },
  }),
  operation({
    type: 'get_metadata_change',
    args: versionArguments,
    changes: 'nothing',
    errors: [NOT_KEPT, refused('not-supported', 'the objects of the change are not kept')],
    documentation: {
      summary: 'Returns the objects of the metadata before and after a change in the history; null where an object did not exist.',
      example: { resource_version: 2 },
    },
    async run({ resourceVersion }, { services }) {
      const objects = await services.metadataHistory.objectsOf(resourceVersion);
      return {
        resource_version: resourceVersion,
        objects: objects.map(({ before, after, ...name }) => ({ ...described(name), before, after })),
      };
    },
  }),
  operation({
    type: 'get_metadata_version',
    args: versionArguments,
    changes: 'nothing',
    errors: [refused('not-exists', 'the history does not have this version')],
    documentation: {
      summary: 'Returns the metadata as it was after a change in the history, as a document for `replace_metadata`.',
      details:
        'The history reaches back to its oldest change, to the last change by an earlier release without a history, or to the last change whose objects were not kept. In a `bulk`, the version that the bulk makes does not exist yet.',
      example: { resource_version: 2 },
    },
    async run({ resourceVersion }, { services }) {
      const metadata = await services.metadataHistory.metadataAt(resourceVersion);
      return { resource_version: resourceVersion, metadata: await runCooperatively(encodeDocument(metadata, services.kinds)) };
    },
  }),
  operation({
    type: 'clear_metadata_history',
    args: object('ClearMetadataHistory', { before: optional(nonNegativeInt('before')) }),
    changes: 'database',
    errors: [],
    documentation: {
      summary:
        'Deletes the changes in the history, with their authors and objects. `before` deletes only changes with a lower version. Versions before the newest deleted change cannot be restored.',
      details:
        'A change also contains its objects as they were before it. To delete a secret from the history, set `before` to a version above that of the change that removed the secret.',
      example: { before: 40 },
    },
    async run({ before }, { services }) {
      await services.metadataHistory.clear(before);
      return SUCCESS;
    },
  }),
];

export const metadataHistoryOperations: readonly OperationGroup[] = [history];
