import { anyJson, object, required } from '../../src/metadata/codec.ts';
import { kindsOf, type KindCodecs } from '../../src/metadata/kinds.ts';
import { qualifiedName } from '../../src/metadata/table-name.ts';

/** A kind as a database folder would describe it; its configuration is any JSON under one key. */
export const testKind: KindCodecs = {
  kind: 'pg',
  aliases: ['postgres'],
  defaultSchema: 'public',
  configuration: object('Configuration', { connectionInfo: required(anyJson) }),
  tableName: qualifiedName('public'),
  functionName: qualifiedName('public'),
};

export const testKinds = kindsOf([
  testKind,
  {
    ...testKind,
    kind: 'dwh',
    aliases: [],
    defaultSchema: '',
    tableName: qualifiedName('', 'dataset'),
    functionName: qualifiedName('', 'dataset'),
  },
]);
