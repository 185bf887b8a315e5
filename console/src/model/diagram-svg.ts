/** A schema diagram as an SVG file. */
import { BOX_WIDTH, type Diagram, type DiagramBox, HEAD_HEIGHT, ROW_HEIGHT } from './diagram.ts';

const MARGIN = 24;
const MAX_NAME = 30;
const MAX_COLUMN = 20;
const MAX_TYPE = 14;
const FONT = 'system-ui, sans-serif';

/** Shortens a text to a maximum number of characters. */
export function cut(text: string, most: number): string {
  const characters = [...text];
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : text;
}

export function boxName({ id }: Pick<DiagramBox, 'id'>): string {
  return cut(id, MAX_NAME);
}

export function columnName(name: string): string {
  return cut(name, MAX_COLUMN);
}

export function typeName(type: string): string {
  return cut(type, MAX_TYPE);
}

/** Returns the whole diagram as a file, with fixed colours. */
export function diagramSvg(diagram: Diagram): string {
  const { width, height, boxes, lines } = diagram;
  const [wide, high] = [width + 2 * MARGIN, height + 2 * MARGIN];
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${-MARGIN} ${-MARGIN} ${wide} ${high}" width="${wide}" height="${high}" font-family="${FONT}" font-size="12">`,
    `<rect x="${-MARGIN}" y="${-MARGIN}" width="${wide}" height="${high}" fill="#ffffff"/>`,
    ...lines.map(({ path, names }) => `<path d="${path}" fill="none" stroke="#7b8696"><title>${escaped(names.join(', '))}</title></path>`),
    ...boxes.map(boxSvg),
    '</svg>\n',
  ];
  return parts.join('\n');
}

function boxSvg(box: DiagramBox): string {
  const { x, y, height, rows, hidden, id } = box;
  const row = (index: number): number => HEAD_HEIGHT + index * ROW_HEIGHT + 13;
  const texts = rows.flatMap(({ name, type, isInPrimaryKey }, index) => [
    `<text x="10" y="${row(index)}" fill="#1b212c"${isInPrimaryKey ? ' font-weight="600"' : ''}>${escaped(columnName(name))}</text>`,
    `<text x="${BOX_WIDTH - 10}" y="${row(index)}" fill="#566070" text-anchor="end">${escaped(typeName(type))}</text>`,
  ]);
  if (hidden > 0) texts.push(`<text x="10" y="${row(rows.length)}" fill="#566070">${hidden} more</text>`);
  return [
    `<g transform="translate(${x} ${y})"><title>${escaped(id)}</title>`,
    `<rect width="${BOX_WIDTH}" height="${height}" rx="6" fill="#ffffff" stroke="#858f9d"/>`,
    `<path d="M0 ${HEAD_HEIGHT}H${BOX_WIDTH}" stroke="#dde1e7"/>`,
    `<text x="10" y="19" fill="#1b212c" font-weight="600">${escaped(boxName(box))}</text>`,
    ...texts,
    '</g>',
  ].join('\n');
}

/** Escapes a text for XML, without the characters that XML cannot contain. */
function escaped(text: string): string {
  return (
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: XML cannot contain them.
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '�')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
  );
}
