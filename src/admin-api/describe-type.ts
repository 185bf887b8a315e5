/** What JSON the types of arguments take, as Markdown. */
import { bool, type FieldDescription, int, nonEmptyText, text, type TypeDescription } from '../metadata/codec.ts';
import { printJson } from '../util/json.ts';

/** Types that others refine without a name of their own: what is special about one is said where it is used. */
export const BASE_TYPES: readonly TypeDescription[] = [text, nonEmptyText, bool, int];

/** A row of a table. */
export function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

/** Whether it has a section of its own. */
function isNamed({ name }: TypeDescription): boolean {
  return !name.startsWith('[') && name !== 'HashMap';
}

/** Types that it is made of; `fields` and what its sentences tell of. */
export function partsOf({ fields = [], about }: TypeDescription): readonly TypeDescription[] {
  return [...fields.map(({ type }) => type), ...(about?.of ?? [])];
}

/**
 * A type where it is used, with a link to its section.
 * @param page the file with the sections, relative to where the link stands; empty: the same
 */
export function typeReference(type: TypeDescription, page: string): string {
  const { name, about } = type;
  const [inner] = about?.of ?? [];
  if (!isNamed(type)) {
    if (inner === undefined) return `\`${name}\``;
    return name === 'HashMap' ? `object of ${typeReference(inner, page)}` : `[${typeReference(inner, page)}]`;
  }
  const link = `[${name}](${page}#${name.toLowerCase()})`;
  const base = BASE_TYPES.find((each) => each.name === name);
  const says = about?.says;
  return base === undefined || says === undefined || says === base.about?.says ? link : `${link}: ${lowered(says)}`;
}

function lowered(sentence: string): string {
  return `${sentence.slice(0, 1).toLowerCase()}${sentence.slice(1)}`.replace(/\.$/, '');
}

/** A row for a key of an object: its names, its type, its default. */
export function fieldRow({ key, aliases, type, required, default: byDefault }: FieldDescription, page: string): string {
  const name = required ? `\`${key}\`` : `_\`${key}\`_`;
  const others = aliases.length === 0 ? '' : ` (or ${aliases.map((alias) => `\`${alias}\``).join(', ')})`;
  return row([name + others, typeReference(type, page), byDefault === undefined ? '' : `\`${printJson(byDefault)}\``]);
}

/** What JSON it takes; undefined: nobody says. */
export function typeBody(type: TypeDescription): string | undefined {
  const { fields, about } = type;
  const paragraphs: string[] = [];
  if (about?.says !== undefined) paragraphs.push(about.says);
  if (about?.values !== undefined)
    paragraphs.push(
      `One of ${about.values
        .filter((value) => value !== '')
        .map((value) => `\`${value}\``)
        .join(', ')}.`,
    );
  if (fields !== undefined) {
    if (fields.length === 0) paragraphs.push('An object without keys.');
    else paragraphs.push(['| key | type | default |', '|---|---|---|', ...fields.map((field) => fieldRow(field, ''))].join('\n'));
  } else {
    const named = (about?.of ?? []).filter((part) => part.name !== type.name);
    if (named.length > 0) paragraphs.push(`See ${named.map((part) => typeReference(part, '')).join(', ')}.`);
  }
  return paragraphs.length === 0 ? undefined : paragraphs.join('\n\n');
}

/** Every type with a section of its own that can be reached from some types, these included. */
export function reachableTypes(types: readonly TypeDescription[]): ReadonlySet<TypeDescription> {
  const seen = new Set<TypeDescription>();
  const rest = [...types];
  for (let type = rest.pop(); type !== undefined; type = rest.pop()) {
    if (seen.has(type)) continue;
    seen.add(type);
    rest.push(...partsOf(type));
  }
  return new Set([...seen].filter(isNamed));
}
