import type { Capabilities } from '../../backend/backend.ts';

export const capabilities: Capabilities = {
  mutations: true,
  functions: true,
  enumTables: true,
  transactionalDdl: true,
  namingConventions: true,
  columnComparison: true,
  computedFields: 'table-argument',
  upsert: 'on-conflict',
  liveQueries: 'multiplexed',
};
