import type { Change } from '../../api/changes.ts';
import { sectionPart } from '../../api/entries.ts';
import { ask } from '../../api/metadata.ts';
import { overview } from '../../api/overview.ts';
import { objectsIn, readSections } from '../../api/sections.ts';
import { equalJson, isObject, type Json, type JsonObject } from '../../model/json.ts';

export interface Actions {
  readonly actions: readonly JsonObject[];
  /** The section `custom_types`. */
  readonly types: Json;
  /** Why an action is inconsistent, by its name. */
  readonly problems: ReadonlyMap<string, string>;
}

/** @throws Failure */
export async function readActions(signal: AbortSignal): Promise<Actions> {
  const [sections, problems] = await Promise.all([readSections(['actions', 'custom_types'], signal), readProblems(signal)]);
  return { actions: objectsIn(sections['actions']), types: sections['custom_types'] ?? null, problems };
}

async function readProblems(signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  if (overview.peek()?.inconsistent === 0) return new Map();
  const json = await ask('get_inconsistent_metadata', {}, { signal });
  return new Map(
    objectsIn(isObject(json) ? json['inconsistent_objects'] : undefined).flatMap(({ type, definition, name, reason }) => {
      if (type !== 'action') return [];
      const called = isObject(definition) ? definition['name'] : undefined;
      return [[String(called ?? name ?? '').replace(/^action /, ''), String(reason ?? '')] as const];
    }),
  );
}

/** The definition of an action's entry. */
export function definitionOf(action: JsonObject | undefined): JsonObject {
  return action !== undefined && isObject(action['definition']) ? action['definition'] : {};
}

/** What `create_action` and `update_action` take of an entry. */
export function headOf({ name = '', definition = {}, comment }: JsonObject): JsonObject {
  return { name, definition, ...(comment === undefined ? {} : { comment }) };
}

/** `set_custom_types`, for types as the metadata has them: where it has none all lists are empty. */
export function setTypes(types: Json): { readonly type: string; readonly args: JsonObject } {
  const lists = { input_objects: [], objects: [], scalars: [], enums: [] };
  return { type: 'set_custom_types', args: isObject(types) ? { ...lists, ...types } : lists };
}

/** The change that makes other custom types of those that there are; nothing is sent where they stay the same. */
export function changeOfTypes(title: string, next: (types: Json) => Json): Change {
  return {
    title,
    parts: [sectionPart('custom_types')],
    steps: (_, [now = null]) => {
      const step = setTypes(next(now));
      return equalJson(step.args, setTypes(now).args) ? [] : [step];
    },
    inverse: ([before = null]) => [setTypes(before)],
  };
}

/** `mutation`, `query` or `asynchronous`. */
export function kindOf(action: JsonObject): 'query' | 'mutation' | 'asynchronous' {
  const { type, kind } = definitionOf(action);
  return type === 'query' ? 'query' : kind === 'asynchronous' ? 'asynchronous' : 'mutation';
}
