import type { Capabilities } from '../../backend/backend.ts';

export const capabilities: Capabilities = {
  mutations: true,
  functions: true,
  enumTables: true,
  namingConventions: false,
  // A row of a distributed table has another type on each server, which no function accepts.
  computedFields: false,
  distinctOn: true,
  onConflict: true,
  conflictsTogether: true,
  streaming: true,
  // There are no triggers on distributed tables.
  eventTriggers: false,
};
