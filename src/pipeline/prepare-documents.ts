/**
 * Prepares and plans stored documents after a change of the metadata, so that the first client is not the first to wait. It works in
 * pauses: at most a fiftieth of the time. Role schemas that a change does not affect keep their operations, so only those of others are
 * prepared again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN_ROLE } from '../auth/session.ts';
import { SvcError } from '../errors/svc-error.ts';
import { declareVariables } from '../graphql-engine/variables.ts';
import type { Metadata } from '../metadata/metadata.ts';
import type { CollectedQuery } from '../metadata/query-collection.ts';
import { DEFAULT_ROLE_SCHEMAS_OPTIONS } from '../schema/role-schemas.ts';
import { readQuery } from '../schema/stored/read-query.ts';
import type { Cooperative } from '../util/cooperative.ts';
import type { Json } from '../util/json.ts';
import { planOperationFor } from './prepare.ts';
import type { RequestPipeline, RequestSnapshot } from './request-pipeline.ts';

/** Time of work between two pauses, in ms. */
const SLICE_MS = 4;
/** Maximum number of roles: half of the role schemas that are kept stay with other clients. */
const MAX_ROLES = DEFAULT_ROLE_SCHEMAS_OPTIONS.maxSchemas / 2;
/** Length of a pause, as a multiple of the work before it. */
const PAUSES = 49;

type DocumentSnapshot = RequestSnapshot & { readonly metadata: Pick<Metadata, 'queryCollections' | 'allowlist'> };
type DocumentPipeline = Pick<RequestPipeline, 'operations' | 'compilerOf' | 'limits'>;

export interface DocumentPreparation {
  /** Prepares the documents of a snapshot; work for an earlier one ends. */
  follow(snapshot: DocumentSnapshot): void;
  stop(): void;
}

/** @param onFault called with errors other than those of documents */
export function createDocumentPreparation(pipeline: DocumentPipeline, onFault: (error: unknown) => void): DocumentPreparation {
  let current: AbortController | null = null;
  return {
    follow(snapshot) {
      current?.abort();
      const own = new AbortController();
      current = own;
      inPauses(preparation(pipeline, snapshot), own.signal).catch(onFault);
    },
    stop: () => current?.abort(),
  };
}

async function inPauses(work: Cooperative<void>, signal: AbortSignal): Promise<void> {
  let began = performance.now();
  for (;;) {
    if (work.next().done === true) return;
    const spent = performance.now() - began;
    if (spent < SLICE_MS) continue;
    await sleep(spent * PAUSES, undefined, { ref: false });
    if (signal.aborted) return;
    began = performance.now();
  }
}

/** Prepares the documents of listed collections, for the roles that the allow-list names. */
export function* preparation(pipeline: DocumentPipeline, snapshot: DocumentSnapshot): Cooperative<void> {
  const { queryCollections, allowlist } = snapshot.metadata;
  const stored = new Set([...queryCollections.values()].flatMap(({ queries }) => [...queries.values()]));
  pipeline.operations.keepDocuments((query) => stored.has(query));
  const collectionsOf = new Map<string, string[]>();
  for (const { collection, scope } of allowlist.values()) {
    for (const role of scope ?? []) {
      const ofRole = collectionsOf.get(role);
      if (ofRole !== undefined) ofRole.push(collection);
      else if (role !== ADMIN_ROLE && collectionsOf.size < MAX_ROLES) collectionsOf.set(role, [collection]);
    }
  }
  // One role after the other, so that each role schema is made once.
  for (const [role, collections] of collectionsOf) {
    for (const collection of collections) {
      for (const query of queryCollections.get(collection)?.queries.values() ?? []) {
        yield;
        if (!prepareDocument(pipeline, snapshot, query, role)) return;
      }
    }
  }
}

/** Returns false if there is no room for further documents. */
function prepareDocument(pipeline: DocumentPipeline, snapshot: DocumentSnapshot, query: CollectedQuery, role: string): boolean {
  const read = readQuery(query, pipeline.limits.maxTokens);
  if ('error' in read) return true;
  const { api } = snapshot.storedOperations.summary(query);
  const schema = snapshot.roleSchema(role, 'frontend', api);
  const { operations } = read.definitions;
  for (const definition of operations) {
    // Clients of a document with one operation send its name or leave it out, and both find this one.
    const operationName = operations.length === 1 ? null : (definition.name?.value ?? null);
    try {
      const operation = pipeline.operations.pin(schema, query, operationName);
      if (operation === 'full') return false;
      const sample = operation === 'large' || operation.plans.length > 0 ? null : sampleVariables(definition);
      if (operation === 'large' || sample === null) continue;
      const variables = operation.prepared.variables(sample);
      planOperationFor({ pipeline, snapshot, request: { query: query.query }, options: {} }, operation, variables);
    } catch (error) {
      // A document that is invalid for the role fails when it is sent.
      if (!(error instanceof SvcError)) throw error;
    }
  }
  return true;
}

/** Values for which a plan also serves most other values. Those of other scalars are texts. */
const SAMPLES: Readonly<Record<string, Json>> = {
  Int: 1,
  Float: 1,
  ID: '1',
  Boolean: true,
  bigint: '1',
  numeric: '1',
  uuid: '00000000-0000-0000-0000-000000000000',
  date: '2000-01-01',
  timestamptz: '2000-01-01T00:00:00Z',
  timestamp: '2000-01-01T00:00:00',
};

/** Returns values for the variables of an operation; `null` if one is a list. Planning fails for input objects, which decide about the plan. */
function sampleVariables(definition: Parameters<typeof declareVariables>[0]): Readonly<Record<string, Json>> | null {
  const sample: Record<string, Json> = {};
  for (const { name, type, default: fallback } of declareVariables(definition).values()) {
    if (fallback !== undefined) continue;
    if (type.kind === 'list') return null;
    sample[name] = SAMPLES[type.name] ?? '';
  }
  return sample;
}
