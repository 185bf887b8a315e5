/** Operations on the metadata as a whole. */
import { SvcError } from '../../errors/svc-error.ts';
import {
  anyJson,
  bool,
  type Codec,
  defaulted,
  int,
  leaf,
  like,
  list,
  nonEmptyText,
  object,
  optional,
  parseFailed,
  required,
  wrongType,
} from '../../metadata/codec.ts';
import { decodeTables } from '../../metadata/decoded-tables.ts';
import { decodeDocument } from '../../metadata/document.ts';
import { withRules } from '../../metadata/decode-rules.ts';
import type { Kinds } from '../../metadata/kinds.ts';
import { EMPTY_METADATA, type Metadata } from '../../metadata/metadata.ts';
import { withSource } from '../../metadata/edit.ts';
import { triggerNameProblem } from '../../metadata/event-trigger.ts';
import { DEFAULT_SOURCE, NO_CUSTOMIZATION } from '../../metadata/source.ts';
import { shareUnchanged } from '../../metadata/share.ts';
import { recordsOf } from '../../schema-cache/inconsistency.ts';
import type { Inconsistency } from '../../schema-cache/schema-cache.ts';
import { requireVersion } from '../../state/require-version.ts';
import type { Warning } from '../../state/state.ts';
import { isJsonArray, isJsonObject, type Json } from '../../util/json.ts';
import { at, type Path, ROOT } from '../../util/path.ts';
import { dropInconsistent } from '../drop-inconsistent.ts';
import { noArguments } from '../no-arguments.ts';
import { exportArguments, exportDocument } from '../partial-export.ts';
import { operation, type OperationGroup, SUCCESS } from '../operation.ts';
import { NAME_TAKEN, refused } from '../operation-error.ts';
import { unnamedTables } from '../unnamed-tables.ts';
import type { DecodedTables } from '../../metadata/table-caches.ts';

const NOT_IN_METADATA = refused('not-exists', 'a source or a table of `only` is not in the metadata');
const SELECTION =
  'With `only`, the answer has only the selected parts, at their places in the document: `tables` (each with its source), `sources` (by name, without their tables) and `sections` (`actions`, `inherited_roles`, …; `sources` is the whole section). A partial document cannot be used to replace the metadata.';

const exportMetadata: OperationGroup = () => [
  operation({
    type: 'export_metadata',
    args: exportArguments,
    changes: 'nothing',
    errors: [NOT_IN_METADATA],
    documentation: { summary: 'Returns the metadata as a document.', details: SELECTION, example: {} },
    run: (args, { services, snapshot, path }) => exportDocument(snapshot, args, services.kinds, path),
  }),
  operation({
    type: 'export_metadata',
    version: 2,
    args: exportArguments,
    changes: 'nothing',
    errors: [NOT_IN_METADATA],
    documentation: {
      summary: 'Returns the metadata with its resource version.',
      details: SELECTION,
      example: { only: { tables: [{ source: 'default', table: 'author' }], sections: ['inherited_roles'] } },
    },
    run: async (args, { services, snapshot, path }) => ({
      resource_version: snapshot.resourceVersion,
      metadata: await exportDocument(snapshot, args, services.kinds, path),
    }),
  }),
];

interface ReplaceMetadata {
  readonly document: Json;
  /** Keys from `$.args` to the document. */
  readonly at: readonly string[];
  /** Decoded tables of the document, filled in by `prepareEdit`. */
  readonly tables: DecodedTables;
  readonly allowInconsistent: boolean;
  readonly allowWarnings: boolean;
  readonly resourceVersion: number | undefined;
  /** True for the form with options, whose answer differs. */
  readonly options: boolean;
}

const replaceOptions = object('ReplaceMetadata', {
  metadata: required(anyJson),
  allowInconsistentMetadata: defaulted(bool, () => false),
  allowWarnings: defaulted(bool, () => true),
  resourceVersion: optional(int),
});

/** Arguments of `replace_metadata`: the document, or an object with options and the document as `metadata`. */
const replaceArguments: Codec<ReplaceMetadata> = leaf(
  'ReplaceMetadata',
  (json, path) => {
    if (!isJsonObject(json)) throw wrongType('Metadata', 'Object', json, path);
    const tables: DecodedTables = new WeakMap();
    if (!Object.hasOwn(json, 'metadata'))
      return { document: json, at: [], tables, allowInconsistent: false, allowWarnings: true, resourceVersion: undefined, options: false };
    const { metadata, allowInconsistentMetadata: allowInconsistent, allowWarnings, resourceVersion } = replaceOptions.decode(json, path);
    return { document: metadata, at: ['metadata'], tables, allowInconsistent, allowWarnings, resourceVersion, options: true };
  },
  ({ document }) => document,
  like(replaceOptions),
);

/** Returns a path with decode rules: an unknown key is an error, or an inconsistency if these are allowed. */
function withUnknownKeyRule({ allowInconsistent }: ReplaceMetadata, path: Path): Path {
  return withRules(path, { refusesUnknown: !allowInconsistent });
}

function replace(metadata: Metadata, args: ReplaceMetadata, path: Path, kinds: Parameters<typeof decodeDocument>[2]): Metadata {
  const next = decodeDocument(args.document, args.at.reduce(at, withUnknownKeyRule(args, path)), kinds, metadata, args.tables);
  refuseDuplicateTriggers(next);
  return shareUnchanged(metadata, next);
}

const replaceMetadata: OperationGroup = () =>
  ([undefined, 2] as const).map((version) =>
    operation<ReplaceMetadata>({
      type: 'replace_metadata',
      ...(version === undefined ? {} : { version }),
      args: replaceArguments,
      changes: 'metadata',
      bringsAddresses: true,
      errors: [
        refused('conflict', 'the metadata has another version than the argument `resource_version`'),
        refused(
          'not-supported',
          'a part of the document is not supported, two event triggers of a source have the same name, or the document has no sources and there is no source `default`',
        ),
        refused('invalid-params', 'an inherited role is one of its own parents'),
        refused('unexpected', 'objects are inconsistent and `allow_inconsistent_metadata` is false; `internal` has the records', 400),
        refused('cyclic-dependency', 'roles inherit from each other, and inconsistencies are not allowed'),
        refused('validation-failed', 'a name is invalid in GraphQL, and inconsistencies are not allowed'),
        NAME_TAKEN,
        refused('metadata-warnings', 'there are warnings and `allow_warnings` is false; `internal` has them'),
      ],
      documentation: {
        summary: 'Replaces the whole metadata with a document.',
        example: { allow_inconsistent_metadata: true, metadata: { version: 3, sources: [] } },
      },
      prepareEdit: (args, { kinds, snapshot }) =>
        decodeTables(args.document, kinds, snapshot.metadata, args.tables, withUnknownKeyRule(args, ROOT)),
      edit(metadata, args, { kinds, path, snapshot }) {
        requireVersion(snapshot, args.resourceVersion);
        const next = replace(metadata, args, path, kinds);
        if (!args.allowWarnings) refuseIllegalNames(next, kinds);
        return next;
      },
      othersBroke: 'cannot continue due to inconsistent metadata',
      inconsistencies: ({ allowInconsistent }) => (allowInconsistent ? 'allow' : 'reject-all'),
      async run({ options }, { changed, snapshot, services, warn }) {
        for (const warning of illegalNames(snapshot.metadata, services.kinds)) warn(warning);
        if (!options) return SUCCESS;
        const inconsistencies = changed?.inconsistencies ?? [];
        return { is_consistent: isConsistent(inconsistencies), inconsistent_objects: [...recordsOf(inconsistencies)] };
      },
    }),
  );

/** @throws SvcError not-supported if two event triggers of a source have the same name */
function refuseDuplicateTriggers({ sources }: Metadata): void {
  for (const { tables } of sources.values()) {
    const names = new Set<string>();
    for (const name of [...tables.values()].flatMap(({ eventTriggers }) => [...eventTriggers.keys()])) {
      if (names.has(name)) throw new SvcError('not-supported', `Event trigger with duplicate names not allowed: ${JSON.stringify(name)}`);
      names.add(name);
    }
  }
}

/** Returns warnings about names that are accepted in a document although they restrict features. */
function illegalNames(metadata: Metadata, kinds: Kinds): readonly Warning[] {
  return [...illegalTriggerNames(metadata), ...unnamedTables(metadata, kinds)];
}

/** Returns warnings about names of event triggers that operations refuse, because they may cause problems in the database and in tools. */
function illegalTriggerNames({ sources }: Metadata): readonly Warning[] {
  return [...sources.values()].flatMap(({ name: source, tables }) =>
    [...tables.values()].flatMap(({ eventTriggers }) =>
      [...eventTriggers.keys()].flatMap((name): readonly Warning[] => {
        const problem = triggerNameProblem(name);
        if (problem === null) return [];
        const message = `the event trigger ${JSON.stringify(name)} may not work as expected: ${problem}`;
        return [{ code: 'illegal-event-trigger-name', type: 'event_trigger', name: `event_trigger ${name} in source ${source}`, message }];
      }),
    ),
  );
}

/** @throws SvcError metadata-warnings */
function refuseIllegalNames(metadata: Metadata, kinds: Kinds): void {
  const warnings = illegalNames(metadata, kinds);
  if (warnings.length === 0) return;
  const internal = warnings.map(({ code, type, name, message }) => ({ code, type, name, message }));
  throw new SvcError('metadata-warnings', 'failed due to metadata warnings', { internal });
}

/** Metadata counts as consistent only without any record, including conflicts of inherited permissions. */
function isConsistent(inconsistencies: readonly Inconsistency[]): boolean {
  return inconsistencies.length === 0;
}

const selection: Codec<boolean | readonly string[]> = leaf(
  'ReloadSpec',
  (json, path) => {
    if (typeof json === 'boolean') return json;
    if (isJsonArray(json)) return list(nonEmptyText).decode(json, path);
    throw parseFailed('expecting a boolean or a list of names', path);
  },
  (value) => value,
  { description: '`true` for all, `false` for none, or a list of names.' },
);

const reloadMetadata: OperationGroup = () => [
  operation({
    type: 'reload_metadata',
    args: object('ReloadMetadata', {
      reloadRemoteSchemas: defaulted(selection, () => true),
      reloadSources: optional(selection),
      recreateEventTriggers: defaulted(selection, () => false),
      source: optional(nonEmptyText),
    }),
    changes: 'metadata',
    errors: [refused('not-exists', 'a source or remote schema in a list does not exist')],
    documentation: {
      summary:
        'Reads the catalogs of all sources and the schemas of all remote schemas again, and checks the metadata against them. With `recreate_event_triggers`, also installs event triggers in their databases again.',
      example: { reload_sources: ['default'] },
    },
    edit(metadata, { source, reloadSources, reloadRemoteSchemas, recreateEventTriggers }) {
      if (source !== undefined && reloadSources !== undefined)
        throw parseFailed('"source" and "reload_sources" exclude each other', at(at(ROOT, 'args'), 'source'));
      for (const name of [sourcesOf(source, reloadSources), recreateEventTriggers].flatMap(names)) {
        if (!metadata.sources.has(name)) throw new SvcError('not-exists', `Source with name "${name}" not found in metadata`);
      }
      for (const name of names(reloadRemoteSchemas)) {
        if (!metadata.remoteSchemas.has(name)) throw new SvcError('not-exists', `Remote schema with name "${name}" not found in metadata`);
      }
      return metadata;
    },
    refresh: ({ source, reloadSources, reloadRemoteSchemas, recreateEventTriggers }) => ({
      sources: selected(sourcesOf(source, reloadSources)),
      eventTriggers: selected(recreateEventTriggers),
      remoteSchemas: selected(reloadRemoteSchemas),
    }),
    inconsistencies: () => 'allow',
    // Does not change the document.
    isGuarded: ({ recreateEventTriggers }) => recreateEventTriggers !== false,
    async run(_args, { changed }) {
      const inconsistencies = changed?.inconsistencies ?? [];
      const consistent = isConsistent(inconsistencies);
      return {
        message: 'success',
        is_consistent: consistent,
        ...(consistent ? {} : { inconsistent_objects: [...recordsOf(inconsistencies)] }),
      };
    },
  }),
];

/** @param source short form for one source */
function sourcesOf(source: string | undefined, reloadSources: boolean | readonly string[] | undefined): boolean | readonly string[] {
  return source === undefined ? (reloadSources ?? true) : [source];
}

function selected(names: boolean | readonly string[]): 'all' | readonly string[] {
  return typeof names !== 'boolean' ? names : names ? 'all' : [];
}

function names(selected: boolean | readonly string[]): readonly string[] {
  return typeof selected === 'boolean' ? [] : selected;
}

const clearMetadata: OperationGroup = () => [
  operation({
    type: 'clear_metadata',
    args: noArguments,
    changes: 'metadata',
    errors: [],
    documentation: { summary: 'Clears the metadata. The source `default` stays, without its tables and its customization.', example: {} },
    edit(metadata) {
      const source = metadata.sources.get(DEFAULT_SOURCE);
      if (source === undefined) return EMPTY_METADATA;
      return withSource(EMPTY_METADATA, { ...source, customization: NO_CUSTOMIZATION, tables: new Map(), functions: new Map() });
    },
    clearsEvents: true,
    inconsistencies: () => 'allow',
  }),
];

const inconsistentMetadata: OperationGroup = () => [
  operation({
    type: 'get_inconsistent_metadata',
    args: noArguments,
    changes: 'nothing',
    errors: [],
    documentation: {
      summary:
        'Lists inconsistent objects of the metadata with the reasons. `warnings`, if there are any, lists consistent objects that are not in the GraphQL schema.',
      example: {},
    },
    async run(_args, { snapshot, services }) {
      const { inconsistencies } = snapshot.cache;
      const warnings = unnamedTables(snapshot.metadata, services.kinds).map((each) => ({ ...each }));
      return {
        is_consistent: isConsistent(inconsistencies),
        inconsistent_objects: [...recordsOf(inconsistencies)],
        ...(warnings.length === 0 ? {} : { warnings }),
      };
    },
  }),
  operation({
    type: 'drop_inconsistent_metadata',
    args: noArguments,
    changes: 'metadata',
    errors: [refused('unexpected', 'objects are still inconsistent; `internal` has the records', 400)],
    documentation: { summary: 'Removes all objects that `get_inconsistent_metadata` lists.', example: {} },
    readsDependencies: true,
    edit: (metadata, _args, { snapshot }) => dropInconsistent(metadata, snapshot.cache.inconsistencies),
    inconsistencies: () => 'allow',
    async run(_args, { changed }) {
      const left = (changed?.inconsistencies ?? []).filter((each) => each.informational !== true);
      if (left.length > 0) {
        throw new SvcError('unexpected', 'some inconsistent metadata could not be dropped', {
          status: 400,
          internal: [...recordsOf(left)],
        });
      }
      return SUCCESS;
    },
  }),
];

export const genericOperations: readonly OperationGroup[] = [
  exportMetadata,
  replaceMetadata,
  reloadMetadata,
  clearMetadata,
  inconsistentMetadata,
];
