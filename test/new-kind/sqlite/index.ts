import type { Backend } from '../../../src/backend/backend.ts';
import { qualifiedName } from '../../../src/metadata/table-name.ts';
import { compiler } from './compiler.ts';
import { configuration, connect, type SqliteConfiguration } from './connect.ts';
import { consoleForm } from './console.ts';
import { diagnostics } from './diagnostics.ts';
import { metrics } from './metrics.ts';
import type { SqliteSource } from './source.ts';
import { sqlText } from './sql-text.ts';
import { types } from './types.ts';

export const sqlite: Backend<SqliteConfiguration, SqliteSource> = {
  kind: 'sqlite',
  aliases: [],
  product: 'sqlite',
  defaultSchema: 'main',
  configuration,
  exampleConfiguration: { file: '/data/shop.db' },
  tableName: qualifiedName('main'),
  functionName: qualifiedName('main'),
  capabilities: {
    mutations: false,
    functions: false,
    enumTables: false,
    namingConventions: false,
    computedFields: false,
    distinctOn: true,
    onConflict: false,
    conflictsTogether: false,
    streaming: false,
    eventTriggers: false,
  },
  types,
  sqlText,
  metrics,
  diagnostics,
  console: consoleForm,
  errorCodes: { failed: 'database-error', noConnection: 'database-error' },
  isMadeUpConstraint: () => false,
  compiler,
  connect,
};
