/** Authors and their articles, with write permissions: the schema cache of tests of mutations. */
import type { BoolExp } from '../../src/ir/bool-exp.ts';
import type { Operand } from '../../src/ir/value.ts';
import type { ValidateInput } from '../../src/metadata/validate-input.ts';
import type { FunctionInfo, SchemaCache, SourceInfo } from '../../src/schema-cache/schema-cache.ts';
import { catalogFunction, inPublic, schemaCache, sourceInfo, tableInfo, typeNamed, unmasked } from './schema-cache-fixture.ts';

export function columnIs(name: string, json: number | string, type = 'int4'): BoolExp {
  return {
    kind: 'compare',
    left: { kind: 'column', column: name, type: typeNamed(type) },
    operator: '_eq',
    argument: { kind: 'operand', operand: { value: { kind: 'literal', json }, type: typeNamed(type), list: false } },
    nullSafe: false,
  };
}

export const SESSION_USER: Operand = { value: { kind: 'session', name: 'x-svc-user-id' }, type: typeNamed('int4'), list: false };
export const HOOK: ValidateInput = {
  type: 'http',
  definition: { url: 'http://hook.test/', headers: [], timeout: 10, forwardClientHeaders: false },
};
export const GREETING: Operand = { value: { kind: 'literal', json: 'hello' }, type: typeNamed('text'), list: false };

const author = tableInfo('author', {
  columns: {
    id: 'int4!',
    name: 'text!',
    email: 'text',
    mood: 'text',
    rating: 'float8',
    data: 'jsonb',
    notes: 'json',
    tags: 'text[]',
    greeting: 'text',
    serial: 'int8!',
    shout: 'text',
  },
  columnFacts: { id: { hasDefault: true, comment: 'who' }, serial: { identity: 'always' }, shout: { generated: true } },
  key: ['id'],
  unique: { author_name_key: ['name', 'email'], 'no name': ['email'] },
  enums: { mood: 'mood' },
  relationships: {
    articles: ['array', 'article', 'id', 'author_id'],
    detail: ['object', 'detail', 'id', 'author_id'],
  },
  afterParent: ['detail'],
  facts: { sideEffects: { insert: false, update: false, delete: true } },
  permissions: { writer: { columns: unmasked('id', 'name'), filter: columnIs('id', 7) }, reader: { columns: unmasked('name') } },
  writes: {
    writer: {
      insert: { columns: new Set(['name', 'mood', 'data']), check: columnIs('id', 1), presets: new Map([['greeting', GREETING]]) },
      update: {
        columns: new Set(['name', 'rating', 'data']),
        filter: columnIs('id', 2),
        check: columnIs('id', 3),
        presets: new Map([['greeting', GREETING]]),
      },
      delete: { filter: columnIs('id', 4) },
    },
    reader: { insert: { columns: new Set(['name']) }, update: { columns: new Set(['name']) }, delete: {} },
    blind: { insert: { presets: new Map([['name', GREETING]]) }, update: { columns: new Set() }, delete: {} },
    trusted: { insert: { columns: new Set(['name']), backendOnly: true }, delete: { backendOnly: true } },
    hooked: {
      insert: { columns: new Set(['name']), validateInput: HOOK },
      update: { columns: new Set(['name']), validateInput: HOOK },
      delete: { validateInput: HOOK },
    },
  },
});

const article = tableInfo('article', {
  columns: { id: 'int4!', title: 'text!', author_id: 'int4', editor_id: 'int4', views: 'int4' },
  key: ['id'],
  relationships: {
    author: ['object', 'author', 'author_id', 'id'],
    editor: ['object', 'author', 'editor_id', 'id'],
    writer: ['object', 'author', 'author_id', 'id'],
  },
  facts: { sideEffects: { insert: false, update: true, delete: false } },
  permissions: { writer: { columns: unmasked('title') } },
  writes: {
    writer: {
      insert: { columns: new Set(['title', 'author_id']), check: columnIs('views', 5), presets: new Map([['editor_id', SESSION_USER]]) },
    },
    trusted: { insert: { columns: new Set(['title']) } },
  },
});

const detail = tableInfo('detail', { columns: { author_id: 'int4!', phone: 'text' }, key: ['author_id'] });
const mood = tableInfo('mood', { columns: { value: 'text!' }, key: ['value'], enumValues: ['happy', 'sad'] });
const log = tableInfo('log', {
  columns: { line: 'text' },
  facts: { kind: 'view', insertable: true, updatable: false, deletable: false },
});

const resetViews: FunctionInfo = {
  source: 'default',
  name: inPublic('reset_views'),
  catalog: catalogFunction('reset_views', {
    arguments: [{ name: 'to', type: typeNamed('int4'), hasDefault: false }],
    volatility: 'volatile',
    returnsTable: inPublic('article'),
    returnsSet: true,
  }),
  customName: undefined,
  customRootFields: new Map(),
  comment: undefined,
  exposedAs: 'mutation',
  sessionArgument: null,
  returns: inPublic('article'),
  permissions: new Set(['writer', 'blind']),
};

export function writingSource(rest: Partial<SourceInfo> = {}): SourceInfo {
  return sourceInfo([author, article, detail, mood, log], rest, [resetViews]);
}

export function writingCache(rest: Partial<SourceInfo> = {}): SchemaCache {
  return schemaCache(writingSource(rest));
}
