import type { Capabilities } from '../../backend/backend.ts';

export const capabilities: Capabilities = {
  mutations: false,
  functions: false,
  enumTables: false,
  namingConventions: false,
  computedFields: true,
  distinctOn: true,
  onConflict: false,
  conflictsTogether: false,
  streaming: false,
  eventTriggers: false,
};
