/** Remote schemas: the introspected schema of a server, under its names here. */
import type { ErrorCode } from '../../errors/codes.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { NO_REMOTE_CUSTOMIZATION, type RemoteSchema } from '../../metadata/remote-schema.ts';
import { idleRenamings, remoteNames } from '../../remote-schema/customization.ts';
import type { RemoteModel } from '../../remote-schema/model.ts';
import type { Json } from '../../util/json.ts';
import { Defect, fromDefect, inconsistent } from '../inconsistency.ts';
import { objectId } from '../object-id.ts';
import type { Inconsistency, RemoteSchemaInfo } from '../schema-cache.ts';
import { describeRemoteSchema } from './describe.ts';
import { rejectUnknownKeys } from './unknown-keys.ts';

/** State of a server. */
export interface RemoteSchemaInput {
  /** The last introspected schema; `null` if introspection never succeeded. */
  readonly model: RemoteModel | null;
  /** Error of the last introspection; `null` if it succeeded. */
  readonly failure: { readonly code: ErrorCode; readonly reason: string; readonly message?: Json } | null;
}

export interface RemoteSchemaStage {
  readonly metadata: RemoteSchema;
  readonly input: RemoteSchemaInput;
  /** `null` if it is not part of the schema. */
  readonly info: RemoteSchemaInfo | null;
  readonly inconsistencies: readonly Inconsistency[];
}

const NOT_ASKED: RemoteSchemaInput = {
  model: null,
  failure: { code: 'remote-schema-error', reason: 'the remote schema was not introspected' },
};

export function resolveRemoteSchema(
  metadata: RemoteSchema,
  input: RemoteSchemaInput = NOT_ASKED,
  before: RemoteSchemaStage | undefined,
): RemoteSchemaStage {
  if (before !== undefined && before.metadata === metadata && before.input === input) return before;
  const inconsistencies: Inconsistency[] = [];
  const object = describeRemoteSchema(metadata);
  const { model, failure } = input;
  if (failure !== null) {
    const { code, reason, message } = failure;
    const refusal = { code, message: reason, of: 'edited', ...(message === undefined ? {} : { internal: message }) } as const;
    inconsistencies.push({ ...inconsistent(object, reason, message), refusal });
  }
  let info: RemoteSchemaInfo | null = null;
  try {
    rejectUnknownKeys(metadata);
    if (model !== null) {
      info = infoOf(metadata, model, before);
      inconsistencies.push(...idleRenamingsOf(metadata, model));
    }
  } catch (thrown) {
    if (!(thrown instanceof Defect)) throw thrown;
    inconsistencies.push(fromDefect(object, '', thrown));
  }
  return { metadata, input, info, inconsistencies };
}

/** Records rules that rename nothing: the remote schema works, and its other rules apply. */
function idleRenamingsOf(metadata: RemoteSchema, model: RemoteModel): readonly Inconsistency[] {
  const { name, definition } = metadata;
  if (definition.customization === undefined) return [];
  return idleRenamings(model, definition.customization).map(({ parentType, mapped, complaint: problem }) => {
    const object = { ...describeRemoteSchema(metadata), objectId: objectId.remoteRenaming(name, parentType, mapped) };
    return { ...inconsistent(object, problem), tolerated: true };
  });
}

/** @throws Defect */
function infoOf(metadata: RemoteSchema, model: RemoteModel, before: RemoteSchemaStage | undefined): RemoteSchemaInfo {
  const { name, definition } = metadata;
  const known = before?.info ?? null;
  const same = known !== null && before?.input.model === model && before.metadata.definition.customization === definition.customization;
  const names = same ? known.names : namesOf(metadata, model);
  const info: RemoteSchemaInfo = { name, model, names, permissions: null };
  return same && known.permissions === info.permissions ? known : info;
}

/** @throws Defect */
function namesOf({ definition }: RemoteSchema, model: RemoteModel): RemoteSchemaInfo['names'] {
  try {
    return remoteNames(model, definition.customization ?? NO_REMOTE_CUSTOMIZATION);
  } catch (thrown) {
    if (thrown instanceof SvcError) throw new Defect(thrown.message, { code: thrown.code, message: thrown.message, of: 'edited' });
    throw thrown;
  }
}
