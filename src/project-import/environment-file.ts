/** Translates environment and compose files of the other engine. */
import { isMap, isNode, isPair, parseDocument } from 'yaml';
import { VARIABLE_PREFIX } from '../config/option.ts';
import { optionRows } from '../config/options.ts';

const OLD_PREFIX = 'HASURA_GRAPHQL_';

/** Returns the variables of this service's options by their names in the other engine. */
export function optionVariables(): ReadonlyMap<string, string> {
  const names = optionRows.flatMap(([, { env }]) => (env === undefined ? [] : [[env.replace(VARIABLE_PREFIX, OLD_PREFIX), env] as const]));
  return new Map([...names, [`${OLD_PREFIX}ENABLE_APOLLO_FEDERATION`, `${VARIABLE_PREFIX}ENABLE_EXT_FEDERATION`]]);
}

const VALUES: ReadonlyMap<string, string> = new Map([
  ['hasura-default', 'svc-default'],
  ['apollo_federation', 'ext_federation'],
]);
/** The folder contains the console of the other engine, which would replace ours. */
const NOT_TRANSLATED: ReadonlySet<string> = new Set([`${OLD_PREFIX}CONSOLE_ASSETS_DIR`]);
/** `NAME=value`, `export NAME=value`, and those of compose files: `NAME: value`, `"NAME": "value"`, `- NAME=value`, `- "NAME=value"`. */
const VARIABLE = /^(\s*(?:export\s+|-\s+)?["']?)([A-Z][A-Z0-9_]*)(["']?\s*[=:]\s*["']?)(.*?)(["']?\s*)$/;

/** Returns whether an item of a list of choices would prevent the start. Values inserted later (`${…}`) are not checked. */
function isUnknownChoice(variable: string, item: string): boolean {
  const found = optionRows.find(([, { env }]) => env === variable);
  if (found === undefined || !found[1].type.name.startsWith('list of ') || item.includes('$')) return false;
  try {
    found[1].type.parse(item);
    return false;
  } catch {
    return true;
  }
}

/** Services of a compose file that are the other engine, by their image or name. */
const ENGINE = /hasura|graphql-engine/i;

/** Returns the lines, from 0, of the services in a compose file that are not the other engine. Empty for other files, or if no service is the engine. */
function linesOfOthers(text: string): ReadonlySet<number> {
  const document = parseDocument(text, { merge: true });
  const services = document.errors.length > 0 || !isMap(document.contents) ? undefined : document.contents.get('services');
  if (!isMap(services)) return new Set();
  const all = services.items.filter(isPair).map(({ key, value }) => ({
    isEngine: ENGINE.test(String(key)) || (isMap(value) && ENGINE.test(String(value.get('image') ?? ''))),
    range: isNode(value) ? value.range : undefined,
  }));
  if (!all.some(({ isEngine }) => isEngine)) return new Set();
  const lineAt = (offset: number): number => text.slice(0, offset).split('\n').length - 1;
  return new Set(
    all.flatMap(({ isEngine, range }) => {
      if (isEngine || range === null || range === undefined) return [];
      const [from, to] = [lineAt(range[0]), lineAt(range[1] - 1)];
      return Array.from({ length: to - from + 1 }, (_, i) => from + i);
    }),
  );
}

/**
 * Translates an environment or compose file of the other engine. Each line that is not translated is preceded by a comment. Other services in
 * a compose file are not changed.
 */
export function translatedEnvironment(text: string): string {
  const known = optionVariables();
  const others = linesOfOthers(text);
  return text
    .split('\n')
    .map((line, i) => {
      if (others.has(i)) return line;
      const found = VARIABLE.exec(line);
      if (found === null) return line;
      const [, before, name, between, value, after] = found as unknown as [string, string, string, string, string, string];
      const to = NOT_TRANSLATED.has(name) ? undefined : known.get(name);
      if (to === undefined) return name.startsWith(OLD_PREFIX) ? `# svc import: this service has no such option\n# ${line}` : line;
      const items = value.split(',').map((item) => VALUES.get(item.trim()) ?? item);
      const refused = items.filter((item) => isUnknownChoice(to, item));
      const note =
        refused.length === 0 ? '' : `# svc import: this service does not have ${refused.map((item) => item.trim()).join(', ')}\n`;
      return `${note}${before}${to}${between}${items.filter((item) => !refused.includes(item)).join(',')}${after}`;
    })
    .join('\n');
}
