import type { Capabilities } from '../../backend/backend.ts';

export const capabilities: Capabilities = {
  mutations: true,
  functions: false,
  enumTables: false,
  namingConventions: false,
  computedFields: false,
  distinctOn: true,
  onConflict: true,
  conflictsTogether: false,
  streaming: false,
  eventTriggers: false,
  transactionalDdl: false,
};
