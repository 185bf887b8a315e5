// Checks the imports of src/ against layers.json, and those of console/src/ against console/layers.json: rooms import downwards only, fences
// hold, and there are no import cycles, not even of types. packages/model/ is the room `model` of src/ by a link; every room of
// console/src/ may import it. Unit tests may import anything.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Modules that a source text names, types included. */
export function importsOf(source) {
  const found = [];
  const code = source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');
  const statement = /^[ \t]*(?:import|export)\s+(?:type\s+)?(?:[\w*{}\s,$]+?\s+from\s*)?['"]([^'"\n]+)['"]/gm;
  for (const [, module] of code.matchAll(statement)) found.push(module);
  for (const [, module] of code.matchAll(/\bimport\s*\(\s*['"]([^'"\n]+)['"]\s*\)/g)) found.push(module);
  return found;
}

/**
 * @param files map from path below src/ (with /) to source text
 * @param layers the content of layers.json
 * @returns complaints, one line each
 */
export function checkLayers(files, layers) {
  const complaints = [];
  const graph = new Map();
  const rank = new Map(layers.order.map((room, index) => [room, index]));
  for (const [file, source] of files) {
    const room = roomOf(file);
    if (!rank.has(room)) {
      complaints.push(`${file}: room "${room}" is not in layers.json`);
      continue;
    }
    const edges = [];
    for (const module of importsOf(source)) {
      const target = resolveModule(file, module);
      if (target === null) {
        for (const fence of layers.fences)
          if (!allowsModule(fence, file, module)) complaints.push(`${file}: "${room}" must not import ${module}`);
        continue;
      }
      if (layers.below?.some((place) => isIn(target, place))) continue;
      if (!files.has(target)) {
        if (/\.tsx?$/.test(target)) complaints.push(`${file}: imports ${target}, which does not exist`);
        continue;
      }
      const targetRoom = roomOf(target);
      edges.push(target);
      if (targetRoom !== room && rank.get(targetRoom) < rank.get(room))
        complaints.push(`${file}: "${room}" must not import "${targetRoom}" above it (${target})`);
      for (const fence of layers.fences) {
        const problem = fenceProblem(fence, file, target);
        if (problem !== null) complaints.push(`${file}: ${problem} (${target})`);
      }
    }
    graph.set(file, edges);
  }
  for (const cycle of cyclesOf(graph)) complaints.push(`import cycle: ${cycle.join(' -> ')}`);
  return complaints;
}

function roomOf(file) {
  return file.split('/')[0];
}

/** `databases/postgresql` for a file in there, otherwise the room. */
function folderOf(file) {
  const parts = file.split('/');
  return parts.length > 2 ? parts.slice(0, 2).join('/') : parts[0];
}

function resolveModule(file, module) {
  if (!module.startsWith('.')) return null;
  return join(dirname(file), module).split(sep).join('/');
}

/** True for a file in a room or folder, and for the file itself. */
function isIn(file, place) {
  return file === place || file.startsWith(`${place}/`);
}

/** Room or folder whose fence applies to a file. */
function fencedPlace(fence, file) {
  return (fence.rooms ?? [fence.room]).find((place) => place !== undefined && isIn(file, place));
}

function allowsModule(fence, file, module) {
  if (fencedPlace(fence, file) === undefined) return true;
  if (fence.noModules === true) return false;
  if (fence.notModules === undefined) return true;
  return !fence.notModules.some((name) => module === name || module.startsWith(`${name}/`));
}

function fenceProblem(fence, file, target) {
  const room = roomOf(file);
  const targetRoom = roomOf(target);
  if (fence.into !== undefined) {
    return targetRoom === fence.into && !fence.onlyFrom.includes(room)
      ? `only ${fence.onlyFrom.join(', ')} may import "${fence.into}"`
      : null;
  }
  if (fence.room?.endsWith('/*')) {
    const folder = folderOf(file);
    if (!folder.startsWith(fence.room.slice(0, -1))) return null;
    const targetFolder = folderOf(target);
    const allowed =
      targetFolder === folder ||
      fence.only.some((place) => isIn(target, place)) ||
      (fence.except?.[folder]?.some((place) => isIn(target, place)) ?? false);
    return allowed ? null : `"${folder}" must not import "${targetFolder}"`;
  }
  const place = fencedPlace(fence, file);
  if (place === undefined || isIn(target, place) || fence.exceptFiles?.some((other) => isIn(target, other))) return null;
  if (fence.not?.some((other) => isIn(target, other)) || (fence.only !== undefined && !fence.only.some((other) => isIn(target, other))))
    return `"${place}" must not import "${fence.not?.includes(folderOf(target)) ? folderOf(target) : targetRoom}"`;
  return null;
}

/** One cycle for each group of files that import each other (Tarjan's strongly connected components). */
function cyclesOf(graph) {
  const index = new Map();
  const low = new Map();
  const stack = [];
  const onStack = new Set();
  const cycles = [];
  const visit = (node) => {
    index.set(node, index.size);
    low.set(node, index.get(node));
    stack.push(node);
    onStack.add(node);
    for (const next of graph.get(node) ?? []) {
      if (!index.has(next)) {
        visit(next);
        low.set(node, Math.min(low.get(node), low.get(next)));
      } else if (onStack.has(next)) {
        low.set(node, Math.min(low.get(node), index.get(next)));
      }
    }
    if (low.get(node) !== index.get(node)) return;
    const group = [];
    for (let member; member !== node; ) {
      member = stack.pop();
      onStack.delete(member);
      group.push(member);
    }
    if (group.length > 1 || graph.get(node)?.includes(node)) cycles.push(group.sort());
  };
  for (const node of graph.keys()) if (!index.has(node)) visit(node);
  return cycles;
}

function main() {
  const root = dirname(import.meta.dirname);
  let failed = false;
  for (const home of [root, join(root, 'console')]) {
    const files = sourcesIn(join(home, 'src'));
    if (home === root) for (const [name, source] of sourcesIn(join(root, 'packages', 'model'))) files.set(`model/${name}`, source);
    const complaints = checkLayers(files, JSON.parse(readFileSync(join(home, 'layers.json'), 'utf8')));
    for (const complaint of complaints) console.error(complaint);
    console.log(`${relative(root, join(home, 'src'))}: ${files.size} files, ${complaints.length} complaints`);
    failed ||= complaints.length > 0;
  }
  process.exit(failed ? 1 : 0);
}

function sourcesIn(src) {
  return new Map(
    readdirSync(src, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !entry.name.endsWith('.test.ts'))
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [relative(src, path).split(sep).join('/'), readFileSync(path, 'utf8')]),
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
