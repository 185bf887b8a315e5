/**
 * The three administration endpoints, without HTTP: a body comes in as JSON, the answer goes out
 * as JSON, failures are `SvcError`s.
 */
import { isAdmin } from '../auth/session.ts';
import type { Backend } from '../backend/backend.ts';
import { SvcError } from '../errors/svc-error.ts';
import { compilersOf } from '../graphql/compilers.ts';
import { kindsOf } from '../metadata/kinds.ts';
import type { State } from '../state/state.ts';
import type { Json } from '../util/json.ts';
import { at, ROOT } from '../util/path.ts';
import { legacyLanguage } from './legacy/language.ts';
import { isOpenToRoles } from './legacy/data-operations.ts';
import { metadataLanguage } from './metadata-language.ts';
import { describeOperations, type OperationDescription } from './describe-operations.ts';
import type { Services } from './operation.ts';
import { operationTable } from './operation-table.ts';
import { decodeRequest, type Language } from './request.ts';
import { type Caller, runRequest } from './run.ts';
import { schemaLanguage } from './schema-language.ts';

export type AdministrationHandler = (body: Json, caller: Caller) => Promise<Json>;

export interface Administration {
  /** `/v1/metadata` */
  readonly metadata: AdministrationHandler;
  /** `/v1/query` */
  readonly queryV1: AdministrationHandler;
  /** `/v2/query` */
  readonly queryV2: AdministrationHandler;
  /** For documentation: every operation of `/v1/metadata`, sorted by type. */
  describeOperations(): readonly OperationDescription[];
}

export interface AdministrationOptions {
  readonly state: State;
  readonly backends: readonly Backend[];
  /** Whether administrators see the internals of errors inside `bulk_keep_going`. */
  readonly showInternal: boolean;
  /** The compiler of a source, for operations on rows; numbers are JSON numbers by default. */
  readonly compilerOf?: Services['compilerOf'];
  readonly catalogState: Services['catalogState'];
  readonly validateInput: Services['validateInput'];
}

/** Builds the operation table once and gives the handlers of the endpoints. */
export function createAdministration(options: AdministrationOptions): Administration {
  const services: Services = {
    compilerOf: compilersOf(options.backends, { stringifyNumericTypes: false }),
    ...options,
    kinds: kindsOf(options.backends),
  };
  const table = operationTable(options.backends);
  const handler =
    (language: Language, openTo: (body: Json) => boolean): AdministrationHandler =>
    async (body, caller) => {
      if (!isAdmin(caller.session) && !openTo(body)) throw new SvcError('access-denied', 'restricted access : admin only', { path: ARGS });
      return runRequest(decodeRequest(body, language), services, caller);
    };
  const nobody = (): boolean => false;
  return {
    metadata: handler(metadataLanguage(table, options.backends), nobody),
    queryV1: handler(legacyLanguage(table, options.backends), isOpenToRoles),
    queryV2: handler(schemaLanguage(options.backends), isOpenToRoles),
    describeOperations: () => describeOperations(options.backends),
  };
}

const ARGS = at(ROOT, 'args');
