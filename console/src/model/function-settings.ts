/** Settings of a function in the API: its configuration in the metadata as the texts of a form. */
import { type Json, type JsonObject, objectOf } from './json.ts';

/** Empty texts are defaults. */
export interface FunctionSettings {
  readonly exposed: '' | 'query' | 'mutation';
  readonly session: string;
  readonly name: string;
  readonly field: string;
  readonly aggregate: string;
}

/** @param configuration `configuration` of the function's entry */
export function readFunctionSettings(configuration: JsonObject): FunctionSettings {
  const roots = objectOf(configuration['custom_root_fields']);
  const text = (json: Json | undefined): string => (typeof json === 'string' ? json : '');
  const exposed = configuration['exposed_as'];
  return {
    exposed: exposed === 'query' || exposed === 'mutation' ? exposed : '',
    session: text(configuration['session_argument']),
    name: text(configuration['custom_name']),
    field: text(roots['function']),
    aggregate: text(roots['function_aggregate']),
  };
}

/** Puts the settings into a configuration; keys that the form does not have are preserved. */
export function withFunctionSettings(configuration: Json | undefined, settings: FunctionSettings): JsonObject {
  const { exposed_as: _e, session_argument: _s, custom_name: _n, custom_root_fields: before, ...rest } = objectOf(configuration);
  const { function: _f, function_aggregate: _a, ...otherRoots } = objectOf(before);
  const roots = { ...otherRoots, ...optional('function', settings.field), ...optional('function_aggregate', settings.aggregate) };
  return {
    ...rest,
    ...optional('exposed_as', settings.exposed),
    ...optional('session_argument', settings.session),
    ...optional('custom_name', settings.name),
    ...(Object.keys(roots).length === 0 ? {} : { custom_root_fields: roots }),
  };
}

/** Returns the key if it has a value. */
function optional(key: string, value: string): JsonObject {
  return value.trim() === '' ? {} : { [key]: value.trim() };
}
