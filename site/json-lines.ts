/** Breaks JSON that is written on one line, as in the examples of generated pages, which would be cut off. */

const WIDTH = 88;
const TOKEN = /"(?:\\.|[^"\\])*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Text of a value, or the items of an object or list between its brackets. Numbers and strings stay as they are written. */
type Part = string | { readonly open: string; readonly items: readonly (readonly Part[])[]; readonly close: string };

/** Returns the text with line breaks, or as it is if it is no JSON, has line breaks, or is short. */
export function brokenJson(text: string): string {
  if (text.length <= WIDTH || text.includes('\n') || !isJson(text)) return text;
  const tokens = text.match(TOKEN) ?? [];
  let next = 0;
  const read = (): Part => {
    const open = tokens[next++] ?? '';
    if (open !== '{' && open !== '[') return open;
    const items: Part[][] = [];
    let item: Part[] = [];
    for (let token = tokens[next]; token !== '}' && token !== ']'; token = tokens[next]) {
      if (token === ',') {
        next++;
        items.push(item);
        item = [];
      } else item.push(read());
    }
    if (item.length > 0) items.push(item);
    return { open, items, close: tokens[next++] ?? '' };
  };
  return printed(read(), '');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function printed(part: Part, indent: string): string {
  const short = onOneLine(part);
  if (typeof part === 'string' || indent.length + short.length <= WIDTH) return short;
  const inner = `${indent}  `;
  const lines = part.items.map((item) => inner + item.map((each) => (each === ':' ? ': ' : printed(each, inner))).join(''));
  return `${part.open}\n${lines.join(',\n')}\n${indent}${part.close}`;
}

function onOneLine(part: Part): string {
  if (typeof part === 'string') return part === ':' ? ': ' : part;
  return part.open + part.items.map((item) => item.map(onOneLine).join('')).join(', ') + part.close;
}
