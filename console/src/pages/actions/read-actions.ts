import type { Change } from '../../api/changes.ts';
import { sectionPart } from '../../api/entries.ts';
import { readOperation } from '../../api/metadata.ts';
import { overview } from '../../api/overview.ts';
import { readSections } from '../../api/sections.ts';
import { equalJson, isObject, type Json, type JsonObject, objectsIn } from '../../model/json.ts';

export interface ActionsMetadata {
  readonly actions: readonly JsonObject[];
  /** The section `custom_types`. */
  readonly types: Json;
  /** Reasons of inconsistency, by the name of the action. */
  readonly problems: ReadonlyMap<string, string>;
}

/** @throws Failure */
export async function readActions(signal: AbortSignal): Promise<ActionsMetadata> {
  const [sections, problems] = await Promise.all([readSections(['actions', 'custom_types'], signal), readProblems(signal)]);
  return { actions: objectsIn(sections['actions']), types: sections['custom_types'] ?? null, problems };
}

async function readProblems(signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  if (overview.peek()?.inconsistent === 0) return new Map();
  const json = await readOperation('get_inconsistent_metadata', {}, { signal });
  return new Map(
    objectsIn(isObject(json) ? json['inconsistent_objects'] : undefined).flatMap(({ type, definition, name, reason }) => {
      if (type !== 'action') return [];
      const actionName = isObject(definition) ? definition['name'] : undefined;
      return [[String(actionName ?? name ?? '').replace(/^action /, ''), String(reason ?? '')] as const];
    }),
  );
}

/** Definition of an action in the metadata. */
export function definitionOf(action: JsonObject | undefined): JsonObject {
  return action !== undefined && isObject(action['definition']) ? action['definition'] : {};
}

/** Arguments of `create_action` and `update_action` for an entry of the metadata. */
export function actionArgs({ name = '', definition = {}, comment }: JsonObject): JsonObject {
  return { name, definition, ...(comment === undefined ? {} : { comment }) };
}

/** Returns the step `set_custom_types` with all lists, empty ones included. */
export function setTypes(types: Json): { readonly type: string; readonly args: JsonObject } {
  const lists = { input_objects: [], objects: [], scalars: [], enums: [] };
  return { type: 'set_custom_types', args: isObject(types) ? { ...lists, ...types } : lists };
}

/** Change of the custom types. Sends nothing if they stay the same. @param next returns the new types for the stored ones */
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

export function kindOf(action: JsonObject): 'query' | 'mutation' | 'asynchronous' {
  const { type, kind } = definitionOf(action);
  return type === 'query' ? 'query' : kind === 'asynchronous' ? 'asynchronous' : 'mutation';
}
