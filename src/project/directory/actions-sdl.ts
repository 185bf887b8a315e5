/**
 * Converts between the document and the two files of actions: SDL has the shapes of actions and of their types, YAML everything else. The
 * SDL is parsed, but not validated, because real files repeat `type Mutation {…}` for each action.
 */
import type {
  DirectiveNode,
  DocumentNode,
  EnumTypeDefinitionNode,
  FieldDefinitionNode,
  InputObjectTypeDefinitionNode,
  InputValueDefinitionNode,
  ObjectTypeDefinitionNode,
  ObjectTypeExtensionNode,
  ScalarTypeDefinitionNode,
  StringValueNode,
} from 'graphql';
// Loading the whole package takes as long as reading the files of a project.
import { GraphQLError } from 'graphql/error/GraphQLError.js';
import { parse, parseValue } from 'graphql/language/parser.js';
import { print } from 'graphql/language/printer.js';
import { isJsonArray, isJsonObject, type Json, type JsonObject, objectOf, objectsIn } from '../../util/json.ts';
import { type FilePlace, type Problem, reasonOf } from '../failure.ts';
import { defined, sameMeaning } from './sections.ts';

export interface JoinedActions {
  readonly actions: readonly JsonObject[];
  readonly customTypes: JsonObject | null;
  readonly problems: readonly Problem[];
  /** Places of the definitions of actions and types in the SDL. */
  readonly places: ReadonlyMap<object, FilePlace>;
}

type Shape =
  | ScalarTypeDefinitionNode
  | EnumTypeDefinitionNode
  | InputObjectTypeDefinitionNode
  | ObjectTypeDefinitionNode
  | ObjectTypeExtensionNode;
type SectionName = 'enums' | 'input_objects' | 'objects' | 'scalars';
export const TYPE_SECTIONS: readonly SectionName[] = ['enums', 'input_objects', 'objects', 'scalars'];

interface Sdl {
  readonly actions: readonly { readonly type: 'query' | 'mutation'; readonly field: FieldDefinitionNode; readonly of: Shape }[];
  readonly types: Readonly<Record<SectionName, readonly Shape[]>>;
  readonly problems: readonly Problem[];
}

/**
 * Makes `actions` and `custom_types` from the two files.
 * @param shown paths for messages
 * @param placeIn returns the place of an object of the YAML file
 */
export function joinActions(
  yaml: Json,
  sdlText: string,
  shown: { readonly yaml: string; readonly sdl: string },
  placeIn: (value: object) => FilePlace,
): JoinedActions {
  const problems: Problem[] = [];
  const places = new Map<object, FilePlace>();
  const sdl = readSdl(sdlText, shown.sdl);
  problems.push(...sdl.problems);
  const root = objectOf(yaml);
  const byName = (list: Json | undefined): Map<string, JsonObject> => {
    const items = objectsIn(list);
    return new Map(items.map((item) => [String(item['name']), item]));
  };
  const known = byName(root['actions']);
  const actions: JsonObject[] = [];
  const seen = new Set<string>();
  for (const { type, field } of sdl.actions) {
    const name = field.name.value;
    const entry = known.get(name);
    const place = nodePlace(field, shown.sdl);
    if (seen.has(name)) problems.push({ code: 'actions', message: `action ${name} is defined twice in ${shown.sdl}`, ...place });
    seen.add(name);
    if (entry === undefined) {
      problems.push({ code: 'actions', message: `action ${name} is not present in ${shown.yaml}`, ...place });
      continue;
    }
    const action = actionOf(type, field, entry);
    actions.push(action);
    places.set(action, place);
  }
  for (const [name, entry] of known)
    if (!seen.has(name)) problems.push({ code: 'actions', message: `action ${name} is not present in ${shown.sdl}`, ...placeIn(entry) });
  const inYaml = objectOf(root['custom_types']);
  const customTypes: Record<string, Json> = {};
  for (const section of TYPE_SECTIONS) {
    const { found, missing } = joinTypes(sdl.types[section], objectsIn(inYaml[section]));
    for (const { made, shape, isListed } of found) {
      const place = nodePlace(shape, shown.sdl);
      places.set(made, place);
      const message = `type ${shape.name.value} is not present among the ${section} of ${shown.yaml}`;
      if (!isListed) problems.push({ code: 'actions', message, ...place });
    }
    for (const entry of missing)
      problems.push({ code: 'actions', message: `type ${String(entry['name'])} is not present in ${shown.sdl}`, ...placeIn(entry) });
    if (found.length > 0) customTypes[section] = found.map(({ made }) => made);
  }
  for (const key of Object.keys(inYaml)) if (!(TYPE_SECTIONS as readonly string[]).includes(key)) customTypes[key] = inYaml[key] as Json;
  const hasTypes = Object.keys(customTypes).length > 0;
  return { actions, customTypes: hasTypes ? customTypes : null, problems, places };
}

interface JoinedTypes {
  readonly found: readonly { readonly made: JsonObject; readonly shape: Shape; readonly isListed: boolean }[];
  /** Entries without a definition. */
  readonly missing: readonly JsonObject[];
}

/** Joins the definitions of the SDL with the entries of the YAML file. Duplicates remain, because the service refuses them. */
function joinTypes(shapes: readonly Shape[], listed: readonly JsonObject[]): JoinedTypes {
  const missing = [...listed];
  const found = shapes.map((shape) => {
    const index = missing.findIndex((each) => each['name'] === shape.name.value);
    const [entry] = index < 0 ? [] : missing.splice(index, 1);
    return { made: typeOf(shape, entry ?? {}), shape, isListed: entry !== undefined };
  });
  return { found, missing };
}

function nodePlace(
  node: { readonly loc?: { readonly startToken: { readonly line: number; readonly column: number } } | undefined },
  file: string,
): FilePlace {
  const start = node.loc?.startToken;
  return start === undefined ? { file } : { file, line: start.line, column: start.column };
}

/** Returns the definitions of the SDL by kind, and problems for unsupported ones. */
export function readSdl(text: string, file: string): Sdl {
  const actions: Sdl['actions'][number][] = [];
  const types: Record<SectionName, Shape[]> = { enums: [], input_objects: [], objects: [], scalars: [] };
  const problems: Problem[] = [];
  const document = parsedSdl(text, file);
  if (!('definitions' in document)) return { actions, types, problems: [document] };
  const check = new DefinitionCheck(file, problems);
  for (const definition of document.definitions) {
    switch (definition.kind) {
      case 'ObjectTypeDefinition':
      case 'ObjectTypeExtension': {
        check.object(definition);
        const root = definition.name.value === 'Query' ? 'query' : definition.name.value === 'Mutation' ? 'mutation' : undefined;
        if (root !== undefined) for (const field of definition.fields ?? []) actions.push({ type: root, field, of: definition });
        else if (definition.kind === 'ObjectTypeDefinition') types.objects.push(definition);
        else check.refuse(definition, `only Query and Mutation can be extended, not ${definition.name.value}`);
        break;
      }
      case 'InputObjectTypeDefinition':
        check.plain(definition.directives);
        check.inputs(definition.fields);
        types.input_objects.push(definition);
        break;
      case 'EnumTypeDefinition':
        check.plain(definition.directives);
        for (const value of definition.values ?? []) check.plain(value.directives, ['deprecated']);
        types.enums.push(definition);
        break;
      case 'ScalarTypeDefinition':
        check.plain(definition.directives);
        types.scalars.push(definition);
        break;
      default:
        check.refuse(definition, `${definition.kind} is not supported for actions: use object, input, enum and scalar types`);
    }
  }
  return { actions, types, problems };
}

/** Returns the document, or what is wrong with the text. */
function parsedSdl(text: string, file: string): Pick<DocumentNode, 'definitions'> | Problem {
  // The parser requires a definition.
  if (text.replace(/#.*$/gm, '').trim() === '') return { definitions: [] };
  try {
    return parse(text);
  } catch (thrown) {
    const [where] = thrown instanceof GraphQLError ? (thrown.locations ?? []) : [];
    return {
      code: 'graphql',
      message: thrown instanceof RangeError ? 'nested too deeply' : reasonOf(thrown),
      file,
      ...(where ?? {}),
    };
  }
}

/** Collects what definitions have and actions do not support. */
class DefinitionCheck {
  readonly #file: string;
  readonly #problems: Problem[];

  constructor(file: string, problems: Problem[]) {
    this.#file = file;
    this.#problems = problems;
  }

  refuse(node: Parameters<typeof nodePlace>[0], message: string): void {
    this.#problems.push({ code: 'actions', message, ...nodePlace(node, this.#file) });
  }

  plain(directives: readonly DirectiveNode[] | undefined, allowed: readonly string[] = []): void {
    for (const directive of directives ?? [])
      if (!allowed.includes(directive.name.value))
        this.refuse(directive, `the directive @${directive.name.value} is not supported for actions: remove it`);
  }

  inputs(nodes: readonly InputValueDefinitionNode[] | undefined): void {
    for (const node of nodes ?? []) {
      this.plain(node.directives);
      if (node.defaultValue !== undefined)
        this.refuse(node, `the default value of ${node.name.value} is not supported for actions: remove it`);
    }
  }

  object(definition: ObjectTypeDefinitionNode | ObjectTypeExtensionNode): void {
    this.plain(definition.directives);
    if ((definition.interfaces ?? []).length > 0)
      this.refuse(definition, `the type ${definition.name.value} implements an interface, which is not supported for actions`);
    for (const field of definition.fields ?? []) {
      this.plain(field.directives);
      this.inputs(field.arguments);
    }
  }
}

function actionOf(type: 'query' | 'mutation', field: FieldDefinitionNode, entry: JsonObject): JsonObject {
  const { kind, ...rest } = objectOf(entry['definition']);
  const definition = defined({
    handler: rest['handler'] ?? '',
    output_type: print(field.type),
    ...rest,
    ...((field.arguments ?? []).length === 0 ? {} : { arguments: (field.arguments ?? []).map(argumentOf) }),
    type,
    ...(type === 'mutation' ? { kind: kind === undefined || kind === '' ? 'synchronous' : kind } : {}),
  });
  const { definition: _, ...others } = entry;
  const text = field.description?.value;
  return defined({
    name: field.name.value,
    definition,
    ...(text !== undefined && others['comment'] === undefined ? { comment: text } : {}),
    ...others,
  });
}

function argumentOf(node: InputValueDefinitionNode): JsonObject {
  return defined({ name: node.name.value, type: print(node.type), description: node.description?.value });
}

function typeOf(shape: Shape, entry: JsonObject): JsonObject {
  const { name: _, description: written, values, fields, ...rest } = entry;
  const description = ('description' in shape ? shape.description?.value : undefined) ?? written;
  const head = { name: shape.name.value, ...(description === undefined ? {} : { description }) };
  switch (shape.kind) {
    case 'ScalarTypeDefinition':
      return { ...head, ...rest };
    case 'EnumTypeDefinition': {
      const members = (shape.values ?? []).map((value) =>
        defined({
          value: value.name.value,
          description: value.description?.value,
          is_deprecated: (value.directives ?? []).some(({ name }) => name.value === 'deprecated') ? true : undefined,
        }),
      );
      return { ...head, values: withYamlMembers(members, values, 'value'), ...rest };
    }
    default: {
      const members = (shape.fields ?? []).map((field) => argumentOf(field as InputValueDefinitionNode));
      return { ...head, fields: withYamlMembers(members, fields, 'name'), ...rest };
    }
  }
}

/** Joins the members of a type in the SDL with those in YAML. Members with the same name are matched in order. */
function withYamlMembers(members: readonly JsonObject[], others: Json | undefined, key: string): readonly JsonObject[] {
  if (!isJsonArray(others)) return members;
  const byKey = new Map<Json | undefined, JsonObject[]>();
  for (const other of others.filter(isJsonObject)) byKey.set(other[key], [...(byKey.get(other[key]) ?? []), other]);
  return members.map((member) => ({ ...byKey.get(member[key])?.shift(), ...member }));
}

/**
 * Returns the parts of a type's members that SDL cannot express; `undefined` if there are none. If a document has several members with one
 * name, which the service refuses, all of them are returned, so that they can be matched in order.
 */
function withoutSdlParts(members: Json | undefined, key: string): Json | undefined {
  if (!isJsonArray(members)) return undefined;
  const all = members.filter(isJsonObject).map((member) => {
    const { [key]: name, type: _, description, is_deprecated: isDeprecated, ...rest } = member;
    const others = defined({
      ...rest,
      description: description === null ? null : undefined,
      is_deprecated: isDeprecated === true ? undefined : isDeprecated,
    });
    return { name, others };
  });
  const named = new Set(all.filter(({ others }) => Object.keys(others).length > 0).map(({ name }) => name));
  const rest = all.filter(({ name }) => named.has(name)).map(({ name, others }) => defined({ [key]: name, ...others }));
  return rest.length === 0 ? undefined : rest;
}

/**
 * Returns the content of the YAML file.
 * @param sdl the SDL file, if it stays as it is: comments and descriptions that it lacks are in the YAML file
 */
function actionsYaml(actions: Json | undefined, customTypes: Json | undefined, sdl?: string): JsonObject {
  const described = sdl === undefined ? undefined : describedIn(readSdl(sdl, ''));
  const list = objectsIn(actions);
  const types = objectOf(customTypes);
  return {
    actions: list.map((action) => {
      const { definition, ...rest } = action;
      const { arguments: _, output_type: __, type: ___, ...kept } = objectOf(definition);
      const { name, comment, ...others } = rest;
      const isInSdl = comment !== undefined && described?.get(`action ${String(name)}`) === comment;
      return defined({ name, definition: kept, ...(isInSdl ? {} : { comment }), ...others });
    }),
    custom_types: {
      ...Object.fromEntries(
        TYPE_SECTIONS.map((section) => [
          section,
          objectsIn(types[section]).map((type) => {
            const { values, fields, description, ...kept } = type;
            // SDL cannot express null.
            const isInSdl = description !== null && (described === undefined || described.has(String(type['name'])));
            return defined({
              ...kept,
              description: isInSdl ? undefined : description,
              values: withoutSdlParts(values, 'value'),
              fields: withoutSdlParts(fields, 'name'),
            });
          }),
        ]),
      ),
      ...Object.fromEntries(Object.entries(types).filter(([key]) => !(TYPE_SECTIONS as readonly string[]).includes(key))),
    },
  };
}

/** Returns the descriptions in the SDL: those of types by name, those of actions by `action` and name. */
function describedIn({ actions, types }: Sdl): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { field } of actions) if (field.description !== undefined) found.set(`action ${field.name.value}`, field.description.value);
  for (const shape of Object.values(types).flat())
    if ('description' in shape && shape.description !== undefined) found.set(shape.name.value, shape.description.value);
  return found;
}

/**
 * Returns both files for the document.
 * @param before current SDL, which stays if it has the same shapes
 */
export function actionsFiles(
  actions: Json | undefined,
  customTypes: Json | undefined,
  before: string,
): { readonly yaml: JsonObject; readonly sdl: string } {
  const yaml = actionsYaml(actions, customTypes, before);
  const joined = joinActions(yaml, before, { yaml: '', sdl: '' }, () => ({}));
  const isUnchanged =
    joined.problems.length === 0 &&
    sameMeaning([...joined.actions], isJsonArray(actions) ? actions : [], 'actions') &&
    sameMeaning(joined.customTypes ?? {}, withoutEmpty(customTypes));
  return isUnchanged ? { yaml, sdl: before } : { yaml: actionsYaml(actions, customTypes), sdl: actionsSdl(actions, customTypes, before) };
}

function withoutEmpty(customTypes: Json | undefined): JsonObject {
  const types = objectOf(customTypes);
  return Object.fromEntries(Object.entries(types).filter(([, list]) => !isJsonArray(list) || list.length > 0));
}

/**
 * Returns the SDL file for the document. Unchanged definitions keep their text, including comments.
 * @param before current file, `''` if there is none
 */
function actionsSdl(actions: Json | undefined, customTypes: Json | undefined, before: string): string {
  const definitions = printed(actions, customTypes);
  const old = readSdl(before, '');
  if (old.problems.length > 0) return definitions.join('\n\n') + (definitions.length > 0 ? '\n' : '');
  const kept = new Map<string, string>();
  for (const shapes of Object.values(old.types)) for (const shape of shapes) kept.set(keyOf(shape), sourceOf(before, shape));
  // A definition of Query or Mutation with a single field belongs to that action.
  const roots = new Map<Shape, string[]>();
  for (const { of, field } of old.actions) roots.set(of, [...(roots.get(of) ?? []), field.name.value]);
  for (const [shape, names] of roots) if (names.length === 1) kept.set(`${shape.name.value}.${names[0]}`, sourceOf(before, shape));
  const same = definitions.every((text) => matching(kept, text) !== undefined);
  const count = [...Object.values(old.types)].reduce((sum, shapes) => sum + shapes.length, 0) + roots.size;
  if (same && count === definitions.length) return before;
  // Definitions with several actions that have not changed.
  if (sameActions(actions, customTypes, before)) return before;
  const texts = definitions.map((text) => matching(kept, text) ?? text);
  return texts.join('\n\n') + (texts.length > 0 ? '\n' : '');
}

function sameActions(actions: Json | undefined, customTypes: Json | undefined, before: string): boolean {
  const normal = (texts: readonly string[]): string => [...texts].sort().join('\n');
  const joined = joinActions(actionsYaml(actions, customTypes), before, { yaml: '', sdl: '' }, () => ({}));
  if (joined.problems.length > 0) return false;
  return normal(printed([...joined.actions], joined.customTypes ?? undefined)) === normal(printed(actions, customTypes));
}

function keyOf(shape: Shape): string {
  return `${shape.kind} ${shape.name.value}`;
}

/** Returns the text of a definition with the comment lines above it. */
function sourceOf(text: string, { loc }: Shape): string {
  if (loc === undefined) return '';
  let start = loc.start;
  for (;;) {
    const lineStart = text.lastIndexOf('\n', start - 2) + 1;
    if (start === 0 || !/^[ \t]*#/.test(text.slice(lineStart, start))) break;
    start = lineStart;
  }
  return text.slice(start, loc.end);
}

function matching(kept: ReadonlyMap<string, string>, text: string): string | undefined {
  const [definition] = parse(text).definitions;
  if (definition === undefined || !('name' in definition) || definition.name === undefined) return undefined;
  let key = `${definition.kind} ${definition.name.value}`;
  if (definition.kind === 'ObjectTypeDefinition' && (definition.name.value === 'Query' || definition.name.value === 'Mutation'))
    key = `${definition.name.value}.${definition.fields?.[0]?.name.value ?? ''}`;
  const before = kept.get(key);
  if (before === undefined) return undefined;
  const plain = (source: string): string => print(parse(source)).replace(/^extend /, '');
  return plain(before) === plain(text) ? before : undefined;
}

/** Prints one text per definition: actions, enums, input objects, objects, scalars. */
function printed(actions: Json | undefined, customTypes: Json | undefined): readonly string[] {
  const texts: string[] = [];
  for (const action of objectsIn(actions)) {
    const definition = objectOf(action['definition']);
    const root = definition['type'] === 'query' ? 'Query' : 'Mutation';
    const args = objectsIn(definition['arguments']);
    const list = args.length === 0 ? '' : `(\n${args.map((argument) => fieldText(argument, '    ')).join('\n')}\n  )`;
    texts.push(`type ${root} {\n  ${String(action['name'])}${list}: ${String(definition['output_type'])}\n}`);
  }
  const types = objectOf(customTypes);
  const each = (section: SectionName): readonly JsonObject[] => objectsIn(types[section]);
  const fields = (type: JsonObject): string =>
    objectsIn(type['fields'])
      .map((field) => fieldText(field, '  '))
      .join('\n');
  for (const type of each('enums')) {
    const values = objectsIn(type['values']).map(
      (value) => `${describe(value, '  ')}  ${String(value['value'])}${value['is_deprecated'] === true ? ' @deprecated' : ''}`,
    );
    texts.push(`${describe(type, '')}enum ${String(type['name'])} {\n${values.join('\n')}\n}`);
  }
  for (const type of each('input_objects')) texts.push(`${describe(type, '')}input ${String(type['name'])} {\n${fields(type)}\n}`);
  for (const type of each('objects')) texts.push(`${describe(type, '')}type ${String(type['name'])} {\n${fields(type)}\n}`);
  for (const type of each('scalars')) texts.push(`${describe(type, '')}scalar ${String(type['name'])}`);
  return texts;
}

function fieldText(field: JsonObject, indent: string): string {
  return `${describe(field, indent)}${indent}${String(field['name'])}: ${String(field['type'])}`;
}

function describe({ description }: JsonObject, indent: string): string {
  if (typeof description !== 'string') return '';
  const node: StringValueNode = { kind: 'StringValue' as StringValueNode['kind'], value: description, block: true };
  const block = print(node)
    .split('\n')
    .map((line) => (line === '' ? line : indent + line))
    .join('\n');
  // Block strings lose leading and trailing whitespace.
  return `${readsAs(block, description) ? block : indent + print({ ...node, block: false })}\n`;
}

function readsAs(text: string, value: string): boolean {
  try {
    const parsed = parseValue(text);
    return parsed.kind === 'StringValue' && parsed.value === value;
  } catch {
    return false;
  }
}
