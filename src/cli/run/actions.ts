/** The commands of `svc actions`. */
import { isAbsolute, join } from 'node:path';
import { actionHandler, actionTypes, codeNames, type Framework } from '../../project/actions-codegen.ts';
import { joinActions, readSdl } from '../../project/directory/actions-sdl.ts';
import { applyChanges, projectFiles, readNamedFile } from '../../project/directory/files.ts';
import { readMetadata } from '../../project/directory/read-metadata.ts';
import { writeMetadata } from '../../project/directory/write-metadata.ts';
import { EXIT, failure, ProjectFailure } from '../../project/failure.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { type Call, type Outcome, textOption } from '../call.ts';

/** `svc actions create` */
export async function runActionsCreate(call: Call): Promise<Outcome> {
  const project = await call.project();
  const name = call.args[0] as string;
  const file = textOption(call, 'sdl') as string;
  const sdl = readNamedFile(call.cwd, file);
  if (sdl === undefined) throw failure('missing-file', `the file ${file} does not exist`, {}, EXIT.usage);
  // The files are those of all environments.
  const ownMetadata = { ...project.metadata, overlays: [] };
  const { document } = readMetadata(ownMetadata);
  const shapes = readSdl(sdl, file);
  if (shapes.problems.length > 0) throw new ProjectFailure(shapes.problems);
  const [found, ...others] = shapes.actions;
  if (found === undefined || found.field.name.value !== name || others.length > 0)
    throw failure('actions', `the SDL is to have one field in type Query or Mutation, ${name}`, { file });
  if (listOf(document['actions']).some((action) => action['name'] === name))
    throw failure('exists', `there is an action ${name} already`, {}, EXIT.usage);
  const { kind, handlerBaseUrl } = project.settings.actions;
  const handler = textOption(call, 'webhook') ?? `${handlerBaseUrl}/${name}`;
  const given = { name, definition: { kind: textOption(call, 'kind') ?? kind, handler } };
  const named = (section: keyof typeof shapes.types): readonly JsonObject[] =>
    shapes.types[section].map((shape) => ({ name: shape.name.value }));
  const yaml: JsonObject = {
    actions: [given],
    custom_types: { enums: named('enums'), input_objects: named('input_objects'), objects: named('objects'), scalars: named('scalars') },
  };
  const made = joinActions(yaml, sdl, { yaml: 'actions.yaml', sdl: file }, () => ({}));
  if (made.problems.length > 0) throw new ProjectFailure(made.problems);
  const types = isJsonObject(document['custom_types']) ? document['custom_types'] : {};
  const merged: Record<string, Json> = { ...types };
  for (const [section, list] of Object.entries(made.customTypes ?? {})) {
    const before = listOf(types[section]);
    const taken = listOf(list).find((type) => before.some((other) => other['name'] === type['name']));
    if (taken !== undefined) throw failure('exists', `there is a type ${String(taken['name'])} already: leave it out of the SDL`, { file });
    merged[section] = [...before, ...listOf(list)];
  }
  const next: JsonObject = {
    ...document,
    actions: [...listOf(document['actions']), ...made.actions],
    ...(Object.keys(merged).length === 0 ? {} : { custom_types: merged }),
  };
  const { changes } = writeMetadata(ownMetadata, next);
  applyChanges(project.files, changes);
  const written = [...changes.keys()].map((path) => project.files.show(path));
  return { text: written.join('\n'), data: { written } };
}

function listOf(value: Json | undefined): readonly JsonObject[] {
  return isJsonArray(value) ? value.filter(isJsonObject) : [];
}

/** `svc actions codegen` */
export async function runActionsCodegen(call: Call): Promise<Outcome> {
  const project = await call.project();
  const { document } = readMetadata(project.metadata);
  const all = listOf(document['actions']);
  const missing = call.args.find((name) => !all.some((action) => action['name'] === name));
  if (missing !== undefined) throw failure('actions', `there is no action ${missing}`, {}, EXIT.usage);
  const actions = call.args.length === 0 ? all : all.filter((action) => call.args.includes(String(action['name'])));
  const named = textOption(call, 'outputDir') ?? project.settings.actions.codegen.outputDir;
  const folder = isAbsolute(named) ? named : join(project.root, named);
  const files = projectFiles(folder);
  const names = codeNames(document);
  const changes = new Map<string, string | null>([[join(folder, 'types.ts'), actionTypes(document, actions, names)]]);
  for (const action of actions) {
    const name = String(action['name']);
    const path = join(folder, `${names.actions.get(name)?.file ?? name}.ts`);
    const handler = actionHandler(action, textOption(call, 'framework') as Framework, names);
    // What somebody has written there stays.
    if (handler !== undefined && files.read(path) === undefined) changes.set(path, handler);
  }
  applyChanges(files, changes);
  return { text: [...changes.keys()].join('\n'), data: { written: [...changes.keys()] } };
}
