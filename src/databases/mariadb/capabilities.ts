import type { Capabilities } from '../../backend/backend.ts';

export const capabilities: Capabilities = {
  mutations: true,
  functions: false,
  enumTables: false,
  namingConventions: true,
  computedFields: false,
  distinctOn: true,
  onConflict: true,
  conflictsTogether: false,
  streaming: true,
  eventTriggers: true,
};
