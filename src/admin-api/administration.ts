/** The three administration endpoints, without HTTP: from a JSON body to the bytes of the JSON answer. Failures are `SvcError`s. */
import { isAdmin } from '../auth/session.ts';
import { MAX_OPERATION_TYPES, userOf } from '../metadata-api/change-origin.ts';
import type { Backend } from '../backend/backend.ts';
import { toSvcError } from '../errors/encode.ts';
import { SvcError } from '../errors/svc-error.ts';
import { limitsFor } from '../pipeline/api-limits.ts';
import { kindsOf } from '../metadata/kinds.ts';
import type { Observer } from '../observability/observation.ts';
import type { State } from '../state/state.ts';
import type { Bytes } from '../util/bytes.ts';
import type { Json } from '../util/json.ts';
import { at, ROOT } from '../util/path.ts';
import { runCooperatively } from '../util/cooperative.ts';
import { printAnswer } from '../metadata-api/answer.ts';
import { legacyLanguage } from './query-language.ts';
import { countOperations, isOpenToRoles } from '../data-api/data-operations.ts';
import { metadataLanguage } from './metadata-language.ts';
import { describeOperations, type OperationDescription } from './describe-operations.ts';
import type { Services } from '../metadata-api/operation.ts';
import { operationTable } from './operation-table.ts';
import { refuseAddresses, refuseEffects, refuseGuarded, refuseSql } from './refuse-guarded.ts';
import {
  type AdministrationRequest,
  type AdministrationCommand,
  decodeAdministration,
  decodeCommands,
  type Language,
} from '../metadata-api/request.ts';
import { type Caller, runCommands } from '../metadata-api/run.ts';
import { schemaLanguage } from './schema-language.ts';

/** @returns bytes of the JSON answer @throws SvcError */
export type AdministrationHandler = (body: Json, caller: Caller) => Promise<readonly Bytes[]>;

export interface Administration {
  /** `/v1/metadata` */
  readonly metadata: AdministrationHandler;
  /** `/v1/query` */
  readonly queryV1: AdministrationHandler;
  /** `/v2/query` */
  readonly queryV2: AdministrationHandler;
  /** Returns every operation of `/v1/metadata`, sorted by type, for documentation. */
  describeOperations(): readonly OperationDescription[];
}

/** Settings of data operations for roles other than admin. */
export interface RowOptions {
  readonly openToAllRoles: boolean;
  /** Maximum number of operations in one request. */
  readonly batchLimit: number;
}

export interface AdministrationOptions {
  readonly state: State;
  readonly backends: readonly Backend[];
  /** Includes `internal` in the errors of a `bulk_keep_going`. */
  readonly showInternal: boolean;
  readonly catalogState: Services['catalogState'];
  readonly metadataHistory: Services['metadataHistory'];
  readonly scheduledEvents: Services['scheduledEvents'];
  readonly actionLog: Services['actionLog'];
  readonly pipeline: Services['pipeline'];
  readonly pollers: Services['pollers'];
  readonly rows: RowOptions;
  readonly observe: Observer;
  /** Refuses changes of the metadata and SQL that is not read-only. */
  readonly isReadOnly: boolean;
  /** Refuses `run_sql`. */
  readonly isSqlDisabled: boolean;
  readonly onSql: Services['onSql'];
}

/** Builds the operation table, and returns the handlers of the endpoints. */
export function createAdministration(options: AdministrationOptions): Administration {
  const table = operationTable(options.backends);
  const metadata = metadataLanguage(table, options.backends);
  const services: Services = {
    ...options,
    kinds: kindsOf(options.backends),
    async changeDraft(draft, changes, { session, requestOptions }, path) {
      const command = decodeCommands(changes, metadata, path);
      refuseEffects(command);
      if (options.isReadOnly) refuseAddresses(command);
      await runCommands({ command, resourceVersion: undefined }, { ...services, state: draft }, { ...requestOptions, session }, 'dry-run');
    },
  };
  const decode = (body: Json, language: Language, { isOwn }: Caller): AdministrationRequest => {
    const request = decodeAdministration(body, language);
    if (isOwn === true) return request;
    if (options.isReadOnly) refuseGuarded(request.command);
    if (options.isSqlDisabled) refuseSql(request.command);
    return request;
  };
  /** @param rows whether the endpoint has data operations */
  const handler =
    (language: Language, rows: boolean): AdministrationHandler =>
    async (body, caller) => {
      if (isAdmin(caller.session)) {
        const request = decode(body, language, caller);
        const { command } = request;
        const span = caller.trace?.child(`metadata ${command.kind === 'operation' ? command.prepared.type : 'bulk'}`);
        try {
          const within = span === undefined ? caller : { ...caller, trace: span };
          const answer = await audited(request, options, caller, () => runCommands(request, services, within));
          return await runCooperatively(printAnswer(answer));
        } finally {
          span?.set('svc.resource_version', options.state.current().resourceVersion);
          if (span !== caller.trace) span?.end();
        }
      }
      const { pipeline, state } = options;
      if (!rows || !options.rows.openToAllRoles || pipeline.allowList !== null || !isOpenToRoles(body)) {
        throw new SvcError('access-denied', 'restricted access : admin only', { path: ARGS, remedies: caller.remedies ?? [] });
      }
      checkBatch(
        body,
        Math.min(options.rows.batchLimit, limitsFor(state.current().cache.apiLimits, caller.session)?.batch ?? Number.POSITIVE_INFINITY),
      );
      return runCooperatively(
        printAnswer(
          await runCommands(decode(body, language, caller), services, { ...caller, budget: pipeline.newBudget(caller.reservation) }),
        ),
      );
    };
  return {
    metadata: handler(metadata, false),
    queryV1: handler(legacyLanguage(table, options.backends), true),
    queryV2: handler(schemaLanguage(options.backends), true),
    describeOperations: () => describeOperations(options.backends),
  };
}

/** Runs a request, and records it in the audit log if it may change the metadata or a database. */
async function audited<T>(
  { command }: AdministrationRequest,
  { state, observe }: Pick<AdministrationOptions, 'state' | 'observe'>,
  { session, requestId = '', address = '', trace }: Caller,
  run: () => Promise<T>,
): Promise<T> {
  const types = changingTypes(command);
  if (types.length === 0) return run();
  const versionBefore = state.current().resourceVersion;
  const user = userOf(session);
  const record = (error: string | null): void => {
    const versionAfter = state.current().resourceVersion;
    observe({ kind: 'audit', requestId, role: session.role, user, ip: address, types, versionBefore, versionAfter, error, trace });
  };
  try {
    const answer = await run();
    record(null);
    return answer;
  } catch (error) {
    record(toSvcError(error).code);
    throw error;
  }
}

function changingTypes(command: AdministrationCommand): readonly string[] {
  const types = new Set<string>();
  const add = (each: AdministrationCommand): void => {
    if (each.kind === 'bulk') for (const item of each.items) add(item);
    else if ((each.prepared.changes !== 'nothing' || each.prepared.runsSql) && types.size < MAX_OPERATION_TYPES)
      types.add(each.prepared.type);
  };
  add(command);
  return [...types];
}

const ARGS = at(ROOT, 'args');

/** @throws SvcError bad-request */
function checkBatch(body: Json, limit: number): void {
  const count = countOperations(body);
  if (count > limit) throw new SvcError('bad-request', `batch of ${count} operations exceeds the limit of ${limit}`, { path: ARGS });
}
