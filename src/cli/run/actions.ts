/** The commands of `svc actions`. */
import { isAbsolute, join } from 'node:path';
import { actionHandler, actionTypes, codeNames, type Framework } from '../../project/actions-codegen.ts';
import { joinActions, readSdl } from '../../project/directory/actions-sdl.ts';
import { ACTIONS_FILE } from '../../project/directory/sections.ts';
import { applyChanges, projectFiles, readNamedFile } from '../../project/directory/files.ts';
import { readMetadata } from '../../project/directory/read-metadata.ts';
import { writeMetadata } from '../../project/directory/write-metadata.ts';
import { EXIT, failure, ProjectFailure } from '../../project/failure.ts';
import { type Json, type JsonObject, objectOf, objectsIn } from '../../util/json.ts';
import { type CommandContext, type CommandOutcome, textOption } from '../context.ts';

/** `svc actions create` */
export async function runActionsCreate(context: CommandContext): Promise<CommandOutcome> {
  const project = await context.project();
  const name = context.args[0] as string;
  const file = textOption(context, 'sdl') as string;
  const sdl = readNamedFile(context.cwd, file);
  if (sdl === undefined) throw failure('missing-file', `the file ${file} does not exist`, {}, EXIT.usage);
  // Without overlays: the action is added for all environments.
  const ownMetadata = { ...project.metadata, overlays: [] };
  const { document } = readMetadata(ownMetadata);
  const shapes = readSdl(sdl, file);
  if (shapes.problems.length > 0) throw new ProjectFailure(shapes.problems);
  const [found, ...others] = shapes.actions;
  if (found === undefined || found.field.name.value !== name || others.length > 0)
    throw failure('actions', `the SDL must have exactly one field in type Query or Mutation, ${name}`, { file });
  if (objectsIn(document['actions']).some((action) => action['name'] === name))
    throw failure('exists', `the action ${name} already exists`, {}, EXIT.usage);
  const { kind, handlerBaseUrl } = project.settings.actions;
  const handler = textOption(context, 'webhook') ?? `${handlerBaseUrl}/${name}`;
  const action = { name, definition: { kind: textOption(context, 'kind') ?? kind, handler } };
  const named = (section: keyof typeof shapes.types): readonly JsonObject[] =>
    shapes.types[section].map((shape) => ({ name: shape.name.value }));
  const yaml: JsonObject = {
    actions: [action],
    custom_types: { enums: named('enums'), input_objects: named('input_objects'), objects: named('objects'), scalars: named('scalars') },
  };
  const made = joinActions(yaml, sdl, { yaml: 'actions.yaml', sdl: file }, () => ({}));
  if (made.problems.length > 0) throw new ProjectFailure(made.problems);
  const types = objectOf(document['custom_types']);
  const merged: Record<string, Json> = { ...types };
  for (const [section, list] of Object.entries(made.customTypes ?? {})) {
    const before = objectsIn(types[section]);
    const existing = objectsIn(list).find((type) => before.some((other) => other['name'] === type['name']));
    if (existing !== undefined)
      throw failure('exists', `the type ${String(existing['name'])} already exists: remove it from the SDL`, { file });
    merged[section] = [...before, ...objectsIn(list)];
  }
  const next: JsonObject = {
    ...document,
    actions: [...objectsIn(document['actions']), ...made.actions],
    ...(Object.keys(merged).length === 0 ? {} : { custom_types: merged }),
  };
  const { changes } = writeMetadata(ownMetadata, next);
  applyChanges(project.files, changes);
  const written = [...changes.keys()].map((path) => project.files.show(path));
  const place = written.find((path) => path.endsWith(ACTIONS_FILE)) ?? written[0] ?? '';
  const lines = place.endsWith('.json') ? '"permissions": [{"role": "user"}]' : '    permissions:\n      - role: user';
  context.progress(
    `No role but admin may call ${name} yet. To permit it to the role user, add to the action in ${place}:\n\n${lines}\n\nThen run svc deploy, unless svc dev follows the files.`,
  );
  return { text: written.join('\n'), data: { written } };
}

/** `svc actions codegen` */
export async function runActionsCodegen(context: CommandContext): Promise<CommandOutcome> {
  const project = await context.project();
  const { document } = readMetadata(project.metadata);
  const all = objectsIn(document['actions']);
  const missing = context.args.find((name) => !all.some((action) => action['name'] === name));
  if (missing !== undefined) throw failure('actions', `there is no action ${missing}`, {}, EXIT.usage);
  const actions = context.args.length === 0 ? all : all.filter((action) => context.args.includes(String(action['name'])));
  const named = textOption(context, 'outputDir') ?? project.settings.actions.codegen.outputDir;
  const folder = isAbsolute(named) ? named : join(project.root, named);
  const files = projectFiles(folder);
  const names = codeNames(document);
  const changes = new Map<string, string | null>([[join(folder, 'types.ts'), actionTypes(document, actions, names)]]);
  for (const action of actions) {
    const name = String(action['name']);
    const path = join(folder, `${names.actions.get(name)?.file ?? name}.ts`);
    const handler = actionHandler(action, textOption(context, 'framework') as Framework, names);
    // An existing handler is never overwritten.
    if (handler !== undefined && files.read(path) === undefined) changes.set(path, handler);
  }
  applyChanges(files, changes);
  return { text: [...changes.keys()].join('\n'), data: { written: [...changes.keys()] } };
}
