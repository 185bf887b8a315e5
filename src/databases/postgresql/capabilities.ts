import type { Capabilities } from '../../backend/backend.ts';

export const capabilities: Capabilities = {
  mutations: true,
  functions: true,
  enumTables: true,
  namingConventions: true,
  computedFields: true,
  distinctOn: true,
  connections: true,
  groups: true,
  onConflict: true,
  conflictsTogether: true,
  streaming: true,
  eventTriggers: true,
};
